package strictcsv

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/gocarina/gocsv"
)

// Float reads a decimal number, such as -12.5 or 3e-4. It refuses everything else that Go
// takes for a number: 1_000, 0x1p3, inf and NaN. The error is strconv's; it wraps
// [strconv.ErrRange] for a number that a float64 cannot hold.
func Float(s string) (float64, error) {
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, &strconv.NumError{Func: "Float", Num: s, Err: strconv.ErrSyntax}
	}
	return strconv.ParseFloat(s, 64)
}

// Int reads a whole number in the form in which it is written: without a plus sign and
// without leading zeros.
func Int(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err == nil && strconv.Itoa(n) != s {
		err = &strconv.NumError{Func: "Int", Num: s, Err: strconv.ErrSyntax}
	}
	return n, err
}

// Columns returns the columns of a row type, in the order of its fields.
func Columns[Row any]() []string {
	var names []string
	forColumns(reflect.TypeFor[Row](), func(name string, _ reflect.Type) { names = append(names, name) })
	return names
}

func forColumns(row reflect.Type, visit func(name string, field reflect.Type)) {
	for f := range row.Fields() {
		if f.Anonymous {
			forColumns(f.Type, visit)
			continue
		}
		visit(f.Tag.Get("csv"), f.Type)
	}
}

// A check says what is wrong with a field.
type check func(field string) error

// plainColumns returns the checks for the columns of plain types. gocsv alone would take
// 1.5 for a whole number, an empty field for 0, and 010 for 8.
func plainColumns[Row any]() map[string]check {
	checks := map[string]check{}
	forColumns(reflect.TypeFor[Row](), func(name string, field reflect.Type) {
		if reflect.PointerTo(field).Implements(reflect.TypeFor[gocsv.TypeUnmarshaller]()) {
			return
		}
		switch field.Kind() {
		case reflect.Int:
			checks[name] = checkInt
		case reflect.Float64:
			checks[name] = checkFloat
		case reflect.String:
			checks[name] = checkText
		}
	})
	return checks
}

func checkInt(field string) error {
	if _, err := Int(field); err != nil {
		return fmt.Errorf("%q is not a whole number", field)
	}
	return nil
}

// checkFloat also accepts the words that programs write for numbers that are not finite.
func checkFloat(field string) error {
	if field == "inf" || field == "+Inf" || field == "NaN" {
		return nil
	}
	if _, err := Float(field); err != nil {
		return fmt.Errorf("%q is not a number", field)
	}
	return nil
}

func checkText(field string) error {
	if field == "" {
		return errors.New("must not be empty")
	}
	if strings.TrimSpace(field) != field || strings.ContainsFunc(field, unicode.IsControl) {
		return fmt.Errorf("%q must have no control characters, and no spaces around it", field)
	}
	return nil
}

package strictcsv

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"miglab/harness/nearest"
)

// Float reads a decimal number, such as -12.5 or 3e-4. It refuses everything else that Go takes for a number: 1_000,
// 0x1p3, inf and NaN. The error is a [*strconv.NumError]; it wraps [strconv.ErrRange] for a number that a float64
// cannot hold.
func Float(s string) (float64, error) {
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, &strconv.NumError{Func: "Float", Num: s, Err: strconv.ErrSyntax}
	}
	return strconv.ParseFloat(s, 64)
}

// Int reads a whole number without a plus sign and without leading zeros. The error is a [*strconv.NumError].
func Int(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err == nil && strconv.Itoa(n) != s {
		err = &strconv.NumError{Func: "Int", Num: s, Err: strconv.ErrSyntax}
	}
	return n, err
}

// Columns returns the columns of a row type, in the order of its fields.
func Columns[Row any]() []string {
	return nearest.Names(fieldsOf[Row](), func(f reflect.StructField) string { return f.Tag.Get("csv") })
}

// fieldsOf returns the fields of a row type and of the structs that it embeds.
func fieldsOf[Row any]() []reflect.StructField {
	all := reflect.VisibleFields(reflect.TypeFor[Row]())
	return slices.DeleteFunc(all, func(f reflect.StructField) bool { return f.Anonymous })
}

// set reads a text into a field of a row. A float may also be inf, +Inf or NaN, as programs write them.
func set(to reflect.Value, text string) error {
	switch to.Kind() {
	case reflect.Int:
		n, err := Int(text)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		to.SetInt(int64(n))
	case reflect.Float64:
		v, err := Float(text)
		if text == "inf" || text == "+Inf" || text == "NaN" {
			v, err = strconv.ParseFloat(text, 64)
		}
		if err != nil {
			return fmt.Errorf("%q is not a number", text)
		}
		to.SetFloat(v)
	case reflect.Bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		to.SetBool(text == "true")
	default:
		if text == "" {
			return errors.New("must not be empty")
		}
		if strings.TrimSpace(text) != text || strings.ContainsFunc(text, unicode.IsControl) {
			return fmt.Errorf("%q must have no control characters, and no spaces around it", text)
		}
		to.SetString(text)
	}
	return nil
}

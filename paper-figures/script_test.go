package figures

import (
	"reflect"
	"strings"
	"testing"

	"miglab/paper-figures/manifest"
)

// TestScriptTable: the evidence shows print, the authors' code and ours, and whether they agree.
func TestScriptTable(t *testing.T) {
	const code = "owner/name,0123456789012345678901234567890123456789,main.py,test,as it stands,"
	claims, err := load(good, because1, "script.csv", "artefact,row,column,quantity,repository,commit,file,function,settings,runs,mean,sd\n"+
		"t1,x,n=1,,"+code+"100,1.7,0.1\nt1,x,n=2,,"+code+"100,87,0.1\n")
	if err != nil {
		t.Fatal(err)
	}
	d := &Data{Claims: claims, others: []Artefact{Show("t1", "The first", func(d *Data) {
		if !d.DefaultAlone {
			t.Error("all readings are asked for")
		}
		values := d.Under("")
		values[n1], values[n2] = Exactly(1.7), Exactly(80)
	})}}
	Script(d)
	if len(d.Tables) != 1 || d.Readings != nil {
		t.Fatalf("%d tables, readings %v", len(d.Tables), d.Readings)
	}
	var text strings.Builder
	if err := d.Tables[0].Encode(&text, "csv"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"x n=1,1.50,1.700,0.020,100,1.700,0.000,0.000,0.020,DEVIATES,yes,\"owner/name@0123456, main.py, test\",as it stands\n",
		"x n=2,85,87.0,0.0,100,80.0,0.0,7.0,0.0,REPRODUCED,no,,\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, text.String())
		}
	}
	want := []manifest.Evidence{{Values: []manifest.NamedNumber{
		{Name: "authors' code", Value: "1.700", Half: "0.020"}, {Name: "authors' code less here", Value: "0.000", Half: "0.020"},
	}}}
	if got := numbersAbout(d.Tables[0], n1, []string{"authors' code"}); !reflect.DeepEqual(got, want) {
		t.Errorf("the numbers about a claim are %+v", got)
	}
}

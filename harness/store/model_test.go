package store

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// The models of GPUs are kept once. Another model of the same name is an error that names both databases. A database without models, as older programs write it, has none.
func TestModels(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, FileName(0, 2), result(0, 10))
	db := mustOpen(t, dir)
	defer db.Close()
	if models, err := db.Models(); err != nil || len(models) != 0 {
		t.Fatalf("a database without models: %v, %v", models, err)
	}
	file := filepath.Join(dir, FileName(1, 2))
	w, err := db.Writer(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Keep(Model{Name: "Half", JSON: "{1}"}), w.Keep(Model{Name: "Third", JSON: "{2}"}), w.Keep(Model{Name: "Half", JSON: "{1}"})); err != nil {
		t.Fatal(err)
	}
	models, err := db.Models()
	if err != nil || len(models) != 2 || models[0] != (Model{"Half", "{1}", file}) || models[1] != (Model{"Third", "{2}", file}) {
		t.Errorf("models %v, %v", models, err)
	}
	var other *ModelError
	if err := w.Keep(Model{Name: "Half", JSON: "{3}"}); !errors.As(err, &other) || other.Name != "Half" || other.First != file {
		t.Errorf("another model of the name: %v", err)
	}

	against, err := db.Writer(filepath.Join(dir, FileName(0, 1)))
	if err := errors.Join(err, against.Keep(Model{Name: "Half", JSON: "{4}"}), against.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Models(); !errors.As(err, &other) || other.First != file || other.Second != filepath.Join(dir, FileName(0, 1)) {
		t.Errorf("two databases with different models of a name: %v", err)
	}
}

// SQLite does not notice a digit that changed in a model.
func TestDamagedModel(t *testing.T) {
	dir := t.TempDir()
	db := mustOpen(t, dir)
	w, err := db.Writer(filepath.Join(dir, FileName(0, 1)))
	if err == nil {
		err = w.Keep(Model{Name: "Half", JSON: `{"sms": 10}`})
	}
	if err != nil {
		t.Fatal(err)
	}
	change(t, w.file.path, "UPDATE model SET json = replace(json, '10', '11')")
	var damage *Damage
	if _, err := db.Models(); !errors.As(err, &damage) || !strings.Contains(damage.Reason, "Half") {
		t.Errorf("%v, want damage of the model Half", err)
	}
}

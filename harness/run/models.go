package run

import (
	"errors"

	"miglab/harness/mig"
	"miglab/harness/store"
)

// Open is [store.Open] for a folder whose results may be on GPU models that are not in the table of
// package mig: [mig.Lookup] then finds these. A different model of the same name, from another
// folder or a file, is an error that names both.
func Open(dir string) (*store.DB, error) {
	db, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	if _, err := registerModels(db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// registerModels makes [mig.Lookup] find the models of a database, and returns their names.
func registerModels(db *store.DB) (map[string]bool, error) {
	models, err := db.Models()
	names := map[string]bool{}
	for i := 0; err == nil && i < len(models); i++ {
		_, err = mig.ParseModel([]byte(models[i].JSON), models[i].File)
		names[models[i].Name] = true
	}
	return names, err
}

//go:build !nosqlite

package store

import _ "modernc.org/sqlite" // the driver; checks of what is compiled for other processors leave it out

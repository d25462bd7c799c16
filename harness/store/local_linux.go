package store

import "golang.org/x/sys/unix"

// isLocal reports whether a folder is on a file system that belongs to this machine
// alone. One that is not known does not.
func isLocal(dir string) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return false
	}
	const zfs = 0x2fc12fc1
	switch uint32(st.Type) { // the field has another type on every architecture
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, zfs:
		return true
	}
	return false
}

package sweep

import "syscall"

// localFileSystem returns the kind of file system that a folder is on where that is one that no
// other machine can see.
func localFileSystem(dir string) string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return ""
	}
	// statfs(2); the field has another type on every architecture.
	return map[uint32]string{0x01021994: "tmpfs", 0x858458f6: "ramfs", 0x794c7630: "overlay"}[uint32(st.Type)]
}

package session

// Abandon leaves everything as SIGKILL does.
func (s *Session) Abandon() { s.lock.Close() }

package fleet

// Held tells how much a store in memory holds.
func (m *Memory) Held() (buckets, slots, members int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.buckets), len(m.slots), len(m.members)
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IdleWarnings } from './idle-warnings.ts'

const owned = { userId: 1, type: 'dev' }
const [nine, ten] = [new Date('2026-11-23T21:00:00Z'), new Date('2026-11-23T22:00:00Z')]

function arrange() {
  const events: unknown[] = []
  const warnings = new IdleWarnings((_, { data }) => void events.push('at' in data ? data.at : undefined))
  return { events, warnings }
}

// The next check of the lifetime took the warning of a group's stop back, a second after it was shown.
test('the end of one warning leaves those of other sources', () => {
  const { events, warnings } = arrange()
  warnings.warnOfLimit(owned, 'hours', nine)
  warnings.endOfLimit(owned, 'lifetime')
  warnings.end(owned)
  assert.deepEqual(events, [nine.toISOString()])
  warnings.endOfLimit(owned, 'hours')
  assert.deepEqual(events, [nine.toISOString(), null])
  assert.deepEqual(warnings.current(1), [])
})

test('of several warnings the earliest is shown, and the next one after its end', () => {
  const { events, warnings } = arrange()
  warnings.warnOfLimit(owned, 'lifetime', ten)
  warnings.warnOfLimit(owned, 'hours', nine)
  warnings.endOfLimit(owned, 'hours')
  assert.deepEqual(
    events,
    [ten, nine, ten].map((at) => at.toISOString()),
  )
})

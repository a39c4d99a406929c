import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outdatedSnapshots } from './retention.ts'

const day = 86_400_000
const now = Date.parse('2026-12-01T00:00:00Z')
/** Snapshots of these ages in days, of which the first was just made, and the ages of those that stay. */
const kept = (...ages: number[]) => {
  const all = ages.map((age) => ({
    id: String(age),
    reason: 'manual' as const,
    createdAt: new Date(now - age * day),
    bytes: 1,
  }))
  const gone = new Set(outdatedSnapshots(all, now, String(ages[0])))
  return all.filter((each) => !gone.has(each)).map(({ id }) => Number(id))
}

test('the three newest snapshots stay, in whatever order they are listed', () => {
  assert.deepEqual(kept(0), [0])
  assert.deepEqual(kept(2, 0, 1), [2, 0, 1])
})

test('of the others the newest that is a week old stays', () => {
  assert.deepEqual(kept(0, 1, 2, 7, 8, 30), [0, 1, 2, 7])
  assert.deepEqual(kept(0, 1, 2, 5, 6, 9), [0, 1, 2, 9])
})

test('while none of the others is a week old, the oldest stays, so that one grows old', () => {
  assert.deepEqual(kept(0, 1, 2, 3, 4), [0, 1, 2, 4])
  const ages = [0]
  for (let today = 1; today < 40; today++) {
    const next = kept(0, ...ages.map((age) => age + 1))
    ages.splice(0, ages.length, ...next)
    assert.ok(ages.length <= 4)
    if (today > 20)
      assert.ok(
        ages.some((age) => age >= 6),
        ages.join(),
      )
  }
})

test('after the clock was set back, the one just made stays beside three from the future, and makes room for later ones', () => {
  assert.deepEqual(kept(0, -1, -2, -3, 10), [0, -1, -2, 10])
  assert.deepEqual(kept(0, -1, -2, 1, 2), [0, -1, -2, 2])
})

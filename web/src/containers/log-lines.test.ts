import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addLines, blockLines, blocksOf, linesIn, maxLines, textOf } from './log-lines.ts'

const line = (text: string) => ({ name: 'line', data: { text } })
const numbers = (count: number) => Array.from({ length: count }, (_, n) => String(n))

test('the last lines are kept in order', () => {
  const blocks = addLines(blocksOf(numbers(maxLines)), ['new'])
  const lines = textOf(blocks).split('\n')
  assert.ok(lines.length > maxLines - blockLines && lines.length <= maxLines)
  assert.deepEqual(lines.slice(-2), [String(maxLines - 1), 'new'])
})

test('new lines change only the last block, so a page renders nothing else again', () => {
  const before = blocksOf(numbers(250))
  const after = addLines(before, ['new'])
  assert.deepEqual([before.length, after.length], [3, 3])
  assert.deepEqual([after[0] === before[0], after[1] === before[1], after[2] === before[2]], [true, true, false])
  assert.deepEqual(
    addLines(after, numbers(100)).map(({ at }) => at),
    [0, 1, 2, 3],
  )
})

test('a block keeps its number when older blocks are dropped', () => {
  const blocks = addLines(blocksOf(numbers(maxLines)), numbers(300))
  assert.equal(blocks.at(-1)?.at, maxLines / blockLines + 2)
})

test('events other than lines are ignored', () => {
  assert.deepEqual(linesIn([line('new'), { name: 'end', data: {} }]), ['new'])
})

test('a line reads as it was written, without bidirectional control characters', () => {
  assert.deepEqual(linesIn([line('user\u202E gnp.exe\u2069')]), ['user gnp.exe'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addLines, blockLines, blocksOf, linesIn, maxLines, textOf } from './log-lines.ts'

const line = (text: string) => ({ name: 'line', data: { text } })
const numbers = (count: number) => Array.from({ length: count }, (_, n) => String(n))

test('the last lines are kept, in their order', () => {
  const blocks = addLines(blocksOf(numbers(maxLines)), ['new'])
  const lines = textOf(blocks).split('\n')
  assert.ok(lines.length > maxLines - blockLines && lines.length <= maxLines)
  assert.deepEqual(lines.slice(-2), [String(maxLines - 1), 'new'])
})

test('lines that come change the last block alone, so that a page writes nothing else anew', () => {
  const before = blocksOf(numbers(250))
  const after = addLines(before, ['new'])
  assert.deepEqual([before.length, after.length], [3, 3])
  assert.deepEqual([after[0] === before[0], after[1] === before[1], after[2] === before[2]], [true, true, false])
  assert.deepEqual(
    addLines(after, numbers(100)).map(({ at }) => at),
    [0, 1, 2, 3],
  )
})

test('a block keeps its number when older ones go', () => {
  const blocks = addLines(blocksOf(numbers(maxLines)), numbers(300))
  assert.equal(blocks.at(-1)?.at, maxLines / blockLines + 2)
})

test('what is no line is left out', () => {
  assert.deepEqual(linesIn([line('new'), { name: 'end', data: {} }]), ['new'])
})

test('a line reads as it was written, whatever turns the reading order round', () => {
  assert.deepEqual(linesIn([line('user\u202E gnp.exe\u2069')]), ['user gnp.exe'])
})

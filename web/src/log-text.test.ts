import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addLines, mostLines } from './log-text.ts'

const line = (text: string) => ({ name: 'line', data: { text } })

test('the last lines are kept, and what is no line is left out', () => {
  const old = Array.from({ length: mostLines }, (_, n) => String(n))
  const lines = addLines(old, [line('new'), { name: 'end', data: {} }])
  assert.deepEqual([lines.length, lines[0], lines.at(-1)], [mostLines, '1', 'new'])
})

test('a line reads as it was written, whatever turns the reading order round', () => {
  assert.deepEqual(addLines([], [line('user\u202E gnp.exe\u2069')]), ['user gnp.exe'])
})

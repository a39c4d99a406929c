import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containerName, homeVolume } from './container-name.ts'

test('names of plain types are readable; names of all others differ and are safe for every engine', () => {
  assert.equal(containerName('berth-x', 'ann', 'dev'), 'berth-x-ann-dev')
  const odd = ['Dev', 'DEV', 'a/b', 'a b', 'a_b', 'x'.repeat(100), 'ä'].map((type) =>
    containerName('berth-x', 'ann', type),
  )
  assert.equal(new Set(odd).size, odd.length)
  for (const name of odd) assert.match(name, /^[a-z0-9][a-z0-9_-]{1,62}$/)
})

test('homes of different users and types never share a volume', () => {
  const volumes = [1, 11].flatMap((user) =>
    ['dev', '1-dev', 'Dev', 'd/ev'].map((type) => homeVolume('i', user, 'ann', type)),
  )
  assert.equal(new Set(volumes).size, volumes.length)
})

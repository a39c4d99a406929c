import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containerName, containerPrefix, homeVolume, parsePrefix } from './container-name.ts'

test('a prefix leads back to the slug and type it was made of, whatever the type looks like', () => {
  for (const type of ['dev', 'my-lab', 'a/b', 'ä ö', '10', '..', '%2e', '__proto__', "it's"]) {
    assert.deepEqual(parsePrefix(containerPrefix('ann', type)), { slug: 'ann', type })
  }
})

test('a segment without hyphen is a bare slug', () => {
  assert.deepEqual(parsePrefix('ann'), { slug: 'ann', type: undefined })
})

test('one container has one path: other spellings of it lead nowhere', () => {
  for (const segment of ['ann-%64ev', 'Ann-dev', 'ann-', '-dev', '', 'ann-%', 'ann%2Ddev', 'ann_dev'])
    assert.equal(parsePrefix(segment), undefined)
})

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

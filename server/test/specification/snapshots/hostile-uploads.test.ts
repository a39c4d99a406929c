import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { packTar, type TarEntry } from 'modern-tar'
import { transferBerth } from '#test/support/homes/transfer-berth.ts'

/** Archives of someone who attacks, sent to a real engine: nothing outside of the new folder is as it was not before. */
const ends: (() => Promise<void>)[] = []
after(async () => {
  for (const end of ends.toReversed()) await end()
})
const { inHome, upload, received } = await transferBerth({ after: (end) => void ends.push(end) })

const link = (name: string, type: 'link' | 'symlink', linkname: string, mode = 0o777): TarEntry => ({
  header: { name, size: 0, type, linkname, mode },
})

test('hard links reach no file of the home that was there before, by way of another name of a symbolic link', async () => {
  // "around" is a symbolic link, too, and was not taken for one: the engine made "got" a second name of the file in the home.
  await inHome('echo secret > secret && chmod 600 secret')
  const before = await inHome('stat -c "%a %u %h" secret')
  for (const top of ['/home', '/home/berth', '/proc/self/cwd/home']) {
    const tar = await packTar([
      link('way', 'symlink', top),
      link('around', 'link', 'way'),
      link('got', 'link', 'around/secret'),
    ])
    const sent = await upload([tar])
    assert.equal(await inHome('stat -c "%a %u %h" secret'), before, `${top}: ${JSON.stringify(sent.body)}`)
    assert.equal(sent.status, 400, JSON.stringify(sent.body))
    assert.match(sent.body.error, /got|around/)
  }
  assert.deepEqual(received(), [])
})

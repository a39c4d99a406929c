import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusals } from '#/refusals/errors.ts'
import { HomeUploads, type HomeUploadsParts } from './home-uploads.ts'

test('an upload whose home is not free in time is refused with words, before a byte is read, and the next one may come', async () => {
  // The gateway ended the connection without an answer.
  const never = new Promise<never>(() => undefined)
  const access = { requireHome: () => ({}), volumeOf: () => 'volume', run: () => never }
  const parts = { access, diskRefusal: async () => undefined, maxWait: 20 } as unknown as HomeUploadsParts
  const uploads = new HomeUploads(parts)
  const unread = {
    [Symbol.asyncIterator]: () => {
      throw new Error('it is read')
    },
  }
  for (let at = 0; at < 2; at++)
    await assert.rejects(
      uploads.receive({ id: 1, slug: 'ann' }, 'dev', unread, new Date()),
      ({ message }: Error) => message === refusals.snapshotsBusy().message,
    )
})

test('two archives of one user are received at a time, so that none keeps all others from sending', async () => {
  const never = new Promise<never>(() => undefined)
  const access = { requireHome: () => ({}), volumeOf: ({ id }: { id: number }, type: string) => `${id}-${type}` }
  const parts = { access, diskRefusal: () => never } as unknown as HomeUploadsParts
  const uploads = new HomeUploads(parts)
  const receive = (id: number, type: string) => uploads.receive({ id, slug: 'x' }, type, nothing(), new Date())
  for (const type of ['a', 'b']) receive(1, type).catch(() => undefined)
  await assert.rejects(receive(1, 'c'), ({ message }: Error) => message === refusals.snapshotsBusy().message)
  const other = await Promise.race([receive(2, 'a'), Promise.resolve('received')])
  assert.equal(other, 'received')
})

async function* nothing(): AsyncGenerator<Uint8Array> {}

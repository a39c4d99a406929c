import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusals } from '#/errors.ts'
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

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApiDocument } from '@berth/api/openapi.ts'

test('the document says 206 for the download of a snapshot, which answers Range, and not for an archive of an end of term', () => {
  const { paths } = openApiDocument('http://x') as {
    paths: Record<string, { get: { responses: Record<string, unknown> } }>
  }
  const statuses = (path: string) => Object.keys(paths[path]?.get.responses ?? {})
  assert.ok(statuses('/api/container/downloads/{ticket}').includes('206'))
  assert.ok(!statuses('/api/archives/{ticket}').includes('206'))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ImageProgram } from '@berth/server/engines/trial-engine.ts'
import { findTemplate, type Attempt, type Candidate } from './find-template.ts'
import { breaks } from './http-look.ts'

const nothing: ImageProgram = { entrypoint: [], command: [] }

/** Has templates tried, of which those work that a rule says; @returns what was tried, and what is proposed. */
async function find(
  given: Record<string, unknown>,
  outcome: (candidate: Candidate) => Partial<Attempt>,
): Promise<{ tried: string[]; proposed: string | null }> {
  const tried: string[] = []
  const attempt = async (candidate: Candidate): Promise<Attempt> => ({
    ...candidate,
    works: false,
    findings: [],
    startedAfter: 1,
    seen: { requests: 0, sockets: 0, clicks: 0 },
    otherPort: null,
    ...outcome(candidate),
  })
  const { proposal } = await findTemplate(given, nothing, attempt, ({ change }) => void tried.push(change))
  return { tried, proposed: proposal?.change ?? null }
}

test('what works as given is proposed, and nothing else is tried', async () => {
  assert.deepEqual(await find({ image: 'x' }, () => ({ works: true })), { tried: ['as given'], proposed: 'as given' })
})

test('corrections are kept for what is tried after them', async () => {
  const { tried, proposed } = await find({ image: 'x' }, ({ fields }) => ({
    works: fields.port === 3000 && fields.allow_headers !== undefined,
    ...(fields.port === 3000
      ? { findings: [breaks('isolation', '')] }
      : { startedAfter: null, otherPort: 3000, findings: [breaks('start', '')] }),
  }))
  const headers = 'allow_headers: [cross-origin-opener-policy]'
  assert.deepEqual([tried, proposed], [['as given', 'port: 3000', headers], headers])
})

test('an image that names an application of the catalogue is tried with its template', async () => {
  const { tried } = await find({ image: 'registry.example/team/jupyterlab:2' }, ({ fields }) => ({
    works: fields.strip_prefix === false && fields.image === 'registry.example/team/jupyterlab:2',
  }))
  assert.deepEqual(tried, ['as given', 'as jupyterlab of the catalogue'])
})

test('without a start nothing of the prefix is tried; a host of its own is the last', async () => {
  const never = await find({ image: 'x' }, () => ({ startedAfter: null }))
  assert.deepEqual([never.tried.length, never.proposed], [1, null])
  const { tried, proposed } = await find({ image: 'x' }, ({ routing }) => ({ works: routing === 'subdomain' }))
  assert.deepEqual(tried.slice(0, 2), ['as given', 'strip_prefix: false'])
  assert.equal(proposed, tried.at(-1))
  assert.match(proposed ?? '', /CONTAINER_ROUTING=subdomain/)
})

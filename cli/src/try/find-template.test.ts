import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ImageProgram } from '@berth/server/engines/trial-engine.ts'
import { findTemplate, type Attempt, type Candidate } from './find-template.ts'
import { breaks } from './http-look.ts'

const nothing: ImageProgram = { entrypoint: [], command: [] }
const server: ImageProgram = { entrypoint: [], command: ['server', '--all'] }

/** Has templates tried, of which those work that a rule says; @returns what was tried, and what is proposed. */
async function find(
  given: Record<string, unknown>,
  outcome: (candidate: Candidate) => Partial<Attempt>,
  program = nothing,
): Promise<{ tried: string[]; proposed: string | null }> {
  const tried: string[] = []
  const attempt = async (candidate: Candidate): Promise<Attempt> => ({
    ...candidate,
    works: false,
    findings: [],
    startedAfter: 1,
    seen: { requests: 0, sockets: 0, clicks: 0 },
    otherPort: null,
    otherOpenPath: null,
    ...outcome(candidate),
  })
  const { proposal } = await findTemplate(given, program, attempt, ({ change }) => void tried.push(change))
  return { tried, proposed: proposal?.change ?? null }
}

test('what works as given is proposed, and nothing else is tried', async () => {
  assert.deepEqual(await find({ image: 'x' }, () => ({ works: true })), { tried: ['as given'], proposed: 'as given' })
})

test('corrections are kept for what is tried after them', async () => {
  const { tried, proposed } = await find({ image: 'x' }, ({ fields }) => ({
    works: fields.port === 3000 && fields.open_path === 'lab',
    ...(fields.port === 3000
      ? { otherOpenPath: 'lab' }
      : { startedAfter: null, otherPort: 3000, findings: [breaks('start', '')] }),
  }))
  assert.deepEqual([tried, proposed], [['as given', 'port: 3000', 'open_path: lab'], 'open_path: lab'])
})

test('an image that names an application of the catalogue is tried with its template', async () => {
  const { tried } = await find({ image: 'registry.example/team/jupyterlab:2' }, ({ fields }) => ({
    works: fields.strip_prefix === false && fields.image === 'registry.example/team/jupyterlab:2',
  }))
  assert.deepEqual(tried, ['as given', 'as jupyterlab of the catalogue'])
})

test('of several variables the one that is enough is proposed', async () => {
  const { tried, proposed } = await find(
    { image: 'x' },
    ({ fields }) => ({ works: JSON.stringify(fields.command ?? '').includes(' BASE_URL=') }),
    server,
  )
  assert.equal(proposed, 'of the variables BASE_URL alone')
  assert.equal(tried.indexOf('strip_prefix: false'), 1)
})

test('without a start nothing of the prefix is tried; a host of its own is the last', async () => {
  const never = await find({ image: 'x' }, () => ({ startedAfter: null }))
  assert.deepEqual([never.tried.length, never.proposed], [2, null])
  const { tried, proposed } = await find({ image: 'x' }, ({ routing }) => ({ works: routing === 'subdomain' }), server)
  assert.equal(proposed, tried.at(-1))
  assert.match(proposed ?? '', /CONTAINER_ROUTING=subdomain/)
})

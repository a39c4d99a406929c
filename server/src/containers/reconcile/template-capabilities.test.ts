import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Template } from '#/templates/template.ts'
import { dockerCapabilities } from '#/engines/docker/docker-runtime.ts'
import { heldDifferentlyBy, unsupportedBy } from './template-capabilities.ts'

const plain = {
  type: 'dev',
  mounts: [],
  devices: [],
  files: [],
  idlePause: 0,
  idleCpu: null,
  port: 8080,
  prestart: false,
  prestartAt: null,
  kubernetes: null,
}
const less = {
  ...dockerCapabilities,
  pauses: false,
  reportsUsage: false,
  hasImages: false,
  mountsHostPaths: false,
  putsFiles: false,
  readsHomes: false,
}
const templates = [
  { ...plain, idlePause: 60, idleCpu: 0.1, port: null, prestart: true, type: 'a' },
  {
    ...plain,
    type: 'b',
    mounts: [
      { source: { path: '/srv/data' }, target: '/data', readOnly: true },
      { source: { volume: 'shared' }, target: '/shared', readOnly: true },
    ],
    files: [{ from: { path: '/srv/course' }, to: '', update: 'missing' }],
    devices: [{ onHost: '/dev/video0', inContainer: '/dev/video0', rights: 'rw' }],
  },
] as unknown as Template[]

test('host directories, devices and starter files are refused where containers cannot have them, and volumes are not', () => {
  assert.deepEqual(unsupportedBy(dockerCapabilities, templates), [])
  const problems = unsupportedBy(less, templates)
  assert.equal(problems.length, 3)
  assert.match(problems[0] ?? '', /"b" mounts the host directory \/srv\/data/)
  assert.match(problems[1] ?? '', /"b" asks for the device \/dev\/video0/)
  assert.match(problems[2] ?? '', /"b" has files, and this engine has no way to put them/)
})

test('what an engine does otherwise than a template says is named: idle_pause, idle_cpu a missing port, prestart', () => {
  assert.deepEqual(heldDifferentlyBy(dockerCapabilities, templates), [])
  const sentences = heldDifferentlyBy(less, templates)
  assert.equal(sentences.length, 4)
  assert.match(sentences[0] ?? '', /"a" has idle_pause, and this engine pauses nothing: .* stopped after 60 s/)
  assert.match(sentences[1] ?? '', /"a" is started ahead, and this engine pauses nothing: its containers run/)
  assert.match(sentences[2] ?? '', /traffic alone counts as use/)
  assert.match(sentences[3] ?? '', /8080 is used/)
})

test('the field kubernetes is refused where the engine is no cluster', () => {
  const placed = [{ ...plain, kubernetes: { nodeSelector: { disk: 'ssd' } } }] as unknown as Template[]
  assert.deepEqual(unsupportedBy({ ...dockerCapabilities, hasNodes: true }, placed), [])
  const [problem = '', ...others] = unsupportedBy(dockerCapabilities, placed)
  assert.deepEqual(others, [])
  assert.match(problem, /"dev" has the field kubernetes, and this engine is no cluster: .* ENGINE=kubernetes/)
})

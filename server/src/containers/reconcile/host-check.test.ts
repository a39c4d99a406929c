import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dockerCapabilities } from '#/engines/docker/docker-runtime.ts'
import type { HostReport, HostRulesReport } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { readTemplate } from '#/templates/read-templates.ts'
import type { Template } from '#/templates/template.ts'
import { HostCheck, heldDifferentlyBy, unsupportedBy } from './host-check.ts'

const report: HostReport = {
  cores: 2,
  ociRuntimes: ['runc', 'runsc'],
  hasGpus: false,
  isThisMachine: true,
  supportsHomeQuota: false,
  supportsLayerLimit: false,
  addressesLeft: 100,
  memory: null,
  disk: null,
  rulesAre: 'host rules',
  rules: { areSet: true },
}

const { template: usual } = readTemplate('x', { image: 'y' }) as { template: Template }

/** A check of templates with these runtimes, at a host that says what `host` says. */
function openCheck(runtimes: (string | null)[], host: () => HostReport, more: object = {}) {
  const lines: string[] = []
  const line =
    (level: string) =>
    (...words: unknown[]) =>
      void lines.push(`${level}: ${String(words.at(-1))}`)
  const log = { warn: line('warn'), error: line('error'), info: line('info') }
  const templates = runtimes.map((runtime, index) => ({ ...usual, type: `type${index}`, runtime, ...more }))
  const runtime = {
    capabilities: dockerCapabilities,
    isolationTrial: () => undefined,
    prepare: async () => void lines.push('prepared'),
    host: async () => host(),
  }
  return { check: new HostCheck(runtime, () => templates, log), lines }
}

test('at start an unknown runtime is refused with type, runtime and those there are, before anything is made', async () => {
  const { check, lines } = openCheck([null, 'runsc', 'kata', 'runcc'], () => report)
  await assert.rejects(check.checkAtStart(), (error: Error) => {
    assert.deepEqual(error.message.split('\n'), [
      'the template "type2" asks for the runtime "kata", which the engine does not have; it has runc, runsc',
      'the template "type3" asks for the runtime "runcc", which the engine does not have; it has runc, runsc',
    ])
    return true
  })
  assert.deepEqual(lines, [])
})

test('at start a GPU and a device that the engine does not have are refused with the type', async () => {
  const lacking = readTemplate('x', { image: 'y', gpus: 2, devices: ['/dev/null', '/dev/no-such:/dev/b:r'] }).template
  const { check } = openCheck([null], () => report, { ...lacking, type: 'lab' })
  await assert.rejects(check.checkAtStart(), (error: Error) => {
    const [gpu, device, ...more] = error.message.split('\n')
    assert.match(gpu ?? '', /^the template "lab" asks for 2 GPUs, and the engine offers none: install/)
    assert.equal(device, 'the template "lab" asks for the device /dev/no-such, which this machine does not have')
    assert.deepEqual(more, [])
    return true
  })
  // An engine elsewhere has devices of its own, about which it says nothing.
  const elsewhere = openCheck([null], () => ({ ...report, hasGpus: true, isThisMachine: false }), lacking)
  await elsewhere.check.checkAtStart()
  assert.deepEqual(elsewhere.lines, ['prepared'])
})

test('runtimes that the engine has, and those that a newer one finds by itself, are no problem; the host is made ready', async () => {
  const { check, lines } = openCheck([null, 'runc', 'io.containerd.kata.v2', '/usr/bin/crun'], () => report)
  await check.checkAtStart()
  assert.deepEqual(lines, ['prepared'])
})

// Networks and rules of the host, whose programs are started one after the other, were a part of the time for which a reload kept
// the API away.
test('after another process, which prepared the engine, templates are checked and nothing is prepared', async () => {
  const { check, lines } = openCheck([null], () => report)
  await check.checkAtStart(true)
  assert.deepEqual(lines, [])
  await assert.rejects(openCheck(['kata'], () => report).check.checkAtStart(true), /asks for the runtime "kata"/)
})

test('an engine that is silent at start is looked at when it answers; what is wrong then is logged, once', async () => {
  let isSilent = true
  const { check, lines } = openCheck(['kata'], () => {
    if (isSilent) throw new RuntimeError('unreachable', 'ask')
    return report
  })
  await check.checkAtStart()
  assert.match(lines.join('\n'), /^warn: the engine does not answer/)
  await assert.rejects(check.check())
  isSilent = false
  await check.check()
  await check.check()
  assert.equal(lines.length, 2, lines.join('\n'))
  assert.match(lines[1] ?? '', /^error: the template "type0" asks for the runtime "kata"/)
})

test('a host without rules is warned of once, with the reason and where to read on, and again when they were lost', async () => {
  let rules: HostReport['rules'] = { areSet: false, reason: 'HOST_RULES is off' }
  const { check, lines } = openCheck([], () => ({ ...report, rules }))
  await check.checkAtStart()
  await check.check()
  rules = { areSet: true }
  await check.check()
  rules = { areSet: false, reason: 'there is no iptables on this machine' }
  await check.check()
  assert.match(
    lines[1] ?? '',
    /^warn: Berth sets no rules on this host: HOST_RULES is off\. .*docs\/how-to\/set-host-rules\.md/,
  )
  assert.equal(lines[2], 'info: the host rules are set')
  assert.match(lines[3] ?? '', /^warn: .*there is no iptables/)
  assert.equal(lines.length, 4)
})

test('the trial of a start leaves its result in the log, whichever it is', async () => {
  const log: string[] = []
  const line = (...words: unknown[]) => void log.push(String(words.at(-1)))
  const start = (rules: HostRulesReport) => {
    const host = async () => ({ ...report, rules, rulesAre: 'policies' as const })
    const runtime = { capabilities: dockerCapabilities, prepare: async () => {}, host }
    const isolationTrial = () => async () => rules
    const check = new HostCheck({ ...runtime, isolationTrial }, () => [usual], { warn: line, error: line, info: line })
    return check.tryIsolation(AbortSignal.timeout(10_000))
  }
  await start({ areSet: true })
  await start({ areSet: false, reason: 'a pod was reached' })
  assert.deepEqual(log.length, 2)
  assert.match(log[0] ?? '', /^NetworkPolicies are enforced/)
  assert.match(log[1] ?? '', /^no NetworkPolicies keep containers from each other .*: a pod was reached/)
})

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
  {
    ...plain,
    idlePause: 60,
    idleCpu: 0.1,
    port: null,
    prestart: true,
    type: 'a',
    // It helps where it can be put.
    files: [{ from: { catalogue: 'code-server' }, to: '', update: 'changed' }],
  },
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

test('a home is in a claim of a cluster, or in a folder of the host, and the other is refused with what to write', () => {
  const at = (homeSource: Template['homeSource']) =>
    [{ ...plain, home: '/home/ann', homeSource }] as unknown as Template[]
  const claim = at({ claim: 'homes', subPath: '{slug}' })
  const folder = at({ path: '/srv/homes/{slug}', create: null })
  const cluster = { ...dockerCapabilities, hasNodes: true, mountsHostPaths: false }
  assert.deepEqual(unsupportedBy(cluster, claim), [])
  assert.deepEqual(unsupportedBy(dockerCapabilities, folder), [])
  assert.match(
    unsupportedBy(dockerCapabilities, claim).join(),
    /^the template "dev" has its home_source in the claim homes, .* \{path, create\}, or set ENGINE=kubernetes$/,
  )
  assert.match(
    unsupportedBy(cluster, folder).join(),
    /^the template "dev" has its home_source at \/srv\/homes\/\{slug\}, .* \{claim, sub_path\}$/,
  )
})

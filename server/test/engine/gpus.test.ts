import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { readTemplate } from '#/templates/read-templates.ts'
import { HostCheck } from '#/containers/reconcile/host-check.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { engineAddress } from '../support/engine/engine.ts'
import { startOwnEngine } from '../support/engine/own-engine.ts'
import { createAndStart, eventually, openAt, openDockerEngine } from '../support/engine/runtimes.ts'

/**
 * GPUs with a real Docker Engine and a stand-in for NVIDIA's hook: this machine has no GPU. Docker looks for the hook in its path
 * at its start; with it, it takes requests for GPUs, gives the container their numbers and starts the hook for it. The
 * stand-in notes what it was started with, and puts no device into the container.
 */
const programs = mkdtempSync('/tmp/berth-gpu-')
after(() => rmSync(programs, { recursive: true, force: true }))
const noted = path.join(programs, 'noted')
const hook = path.join(programs, 'nvidia-container-runtime-hook')
const systemHook = '/usr/local/sbin/nvidia-container-runtime-hook'
writeFileSync(hook, `#!/bin/sh\n{ echo "$@"; cat; echo; } >> ${noted}\n`)
chmodSync(hook, 0o755)

const { spec, close } = await openDockerEngine()
after(() => close())
const engine = await startOwnEngine({ after }, { programs })

const log = { warn: () => undefined, error: () => undefined, info: () => undefined }
interface Inspection {
  readonly HostConfig: {
    readonly DeviceRequests: readonly { readonly Count: number; readonly Capabilities: string[][] }[]
  }
}

/** What a start with a template that asks for GPUs says; undefined when it goes on. */
const refusal = (runtime: Runtime, gpus: number) => {
  const { template } = readTemplate('dev', { image: 'x', gpus })
  return new HostCheck(runtime, () => (template ? [template] : []), log)
    .checkAtStart()
    .then(() => undefined)
    .catch((error: Error) => error.message)
}

test('a container with GPUs has their numbers, and the hook was started for it; one without has neither', async (t) => {
  const { installation, runtime } = openAt(engine.address, t)
  await runtime.prepare()
  const tell = { command: ['sh', '-c', 'echo "[$NVIDIA_VISIBLE_DEVICES]"; exec sleep 60'] }
  const says = (id: string, text: string) =>
    eventually(async () =>
      assert.ok(
        (await runtime.logs(id, 9)).some((line) => line.includes(text)),
        text,
      ),
    )
  const withGpus = (name: string, gpus: number) => ({ ...spec(name, tell), name: `${installation}-${name}`, gpus })
  const none = await createAndStart(runtime, withGpus('none', 0))
  await says(none.id, '[]')
  const two = await createAndStart(runtime, withGpus('two', 2))
  await says(two.id, '[0,1]')
  const { HostConfig } = await engine.ask<Inspection>('GET', `/containers/${two.id}/json`)
  const requests = HostConfig.DeviceRequests.map(({ Count, Capabilities }) => ({ Count, Capabilities }))
  assert.deepEqual(requests, [{ Count: 2, Capabilities: [['gpu']] }])
  const starts = readFileSync(noted, 'utf8')
  assert.match(starts, /^prestart\n/)
  assert.ok(starts.includes(two.id) && !starts.includes(none.id))
})

test('Berth starts with GPUs where the system has the hook, although no runtime of the engine is named for them', async (t) => {
  const { runtime } = openAt(engine.address, t)
  assert.match(
    (await refusal(runtime, 2)) ?? '',
    /^the template "dev" asks for 2 GPUs, and the engine offers none: install/,
  )
  if (existsSync(systemHook)) return t.skip('this machine has the hook')
  // A run that was killed leaves a link without a target.
  rmSync(systemHook, { force: true })
  symlinkSync(hook, systemHook)
  t.after(() => rmSync(systemHook))
  assert.equal(await refusal(runtime, 2), undefined)
})

test('and where the engine has a runtime of that name', async (t) => {
  const withRuntime = await startOwnEngine(t, { options: { 'add-runtime': 'nvidia=runc' } })
  assert.equal(await refusal(openAt(withRuntime.address, t).runtime, 1), undefined)
})

test('an engine without them refuses to start such a container, in words', async (t) => {
  const { installation, runtime } = openAt(engineAddress, t)
  await runtime.prepare()
  const { id } = await runtime.create({ ...spec('gpu'), name: `${installation}-gpu`, gpus: 1 })
  const error = await runtime.start(id).catch((thrown: Error) => thrown)
  assert.match(String(error?.cause), /could not select device driver/)
})

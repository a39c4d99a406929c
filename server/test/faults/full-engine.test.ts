import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NetworkFull } from '#/engines/runtime-error.ts'
import { createDockerRuntime } from '#/engines/docker/docker-runtime.ts'
import { engineAnswering, ok, refusal } from '../support/engine/faulty-engines.ts'
import { ofKind, openInstallation } from '../support/engine/runtimes.ts'

test('a full disk of the engine is reported as such, whether it shows at a pull, a creation or a start', async (t) => {
  const { installation, runtime, spec } = await openInstallation(t)
  await runtime.prepare()
  const { id } = await runtime.create(spec('there'))
  const behind = async (part: RegExp, answer: string) => {
    const dockerHost = await engineAnswering(t, part, answer)
    return createDockerRuntime({ installation, dockerHost, network: installation })
  }
  const words = 'write /var/lib/docker/overlay2/x/diff/y: no space left on device'
  const creating = await behind(/^POST \S+containers\/create/, refusal(500, words))
  await assert.rejects(creating.create(spec('new')), ofKind('full'))
  const starting = await behind(/^POST \S+\/start/, refusal(500, words))
  await assert.rejects(starting.start(id), (error) => ofKind('full')(error) && !(error instanceof NetworkFull))
  const told = JSON.stringify({ error: `failed to register layer: ${words}` })
  const pulling = await behind(/^POST \S+images\/create/, ok(`${told}\n`))
  await assert.rejects(pulling.create({ ...spec('new'), image: 'registry.invalid/none:1' }), ofKind('full'))
})

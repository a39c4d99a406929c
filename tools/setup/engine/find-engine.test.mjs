import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { unresponsiveEngine, fakeEngine } from '../../test-support/fake-engine.mjs'
import { temporaryRepository } from '../../test-support/temporary-repository.mjs'
import { needBrowser } from '../browser.mjs'
import { findEngine, needEngine } from './find-engine.mjs'
import { refuseUnlessProvidable } from '../machine.mjs'
import { SetupProblem } from '../problem.mjs'

const root = resolve(import.meta.dirname, '../../..')
const nowhere = 'unix:///nonexistent/engine.sock'
const bareMachine = { hosts: [nowhere], isInstalled: false }

test('an engine is found although one socket is gone and another engine does not answer', async (t) => {
  const living = await fakeEngine(t, () => 'OK')
  assert.equal(await findEngine({}, [nowhere, await unresponsiveEngine(t), living]), living)
})

test('an engine without a response is abandoned after two seconds', { timeout: 10_000 }, async (t) => {
  const hosts = [await unresponsiveEngine(t)]
  assert.equal(await findEngine({}, hosts), undefined)
})

test('an invalid DOCKER_HOST counts as an engine that does not answer', async () => {
  assert.equal(await findEngine({ DOCKER_HOST: '/var/run/docker.sock' }), undefined)
})

test('BERTH_NO_INSTALL=1: one message names everything that is missing and how to install it', async (t) => {
  const { here } = temporaryRepository(t, {}, { BERTH_NO_INSTALL: '1', DOCKER_HOST: '', PATH: '' })
  const needs = [await needEngine(here, bareMachine), await needBrowser(here)].filter((need) => need !== undefined)
  const message = refusal(() => refuseUnlessProvidable(here, needs, true))
  assert.match(message, /sudo apt-get install docker\.io/)
  assert.match(message, /sudo apt-get install chromium/)
  assert.match(message, /BERTH_NO_INSTALL/)
})

test('a user other than root sees what to install; root does not', async (t) => {
  const { here } = temporaryRepository(t, {}, { BERTH_NO_INSTALL: '', DOCKER_HOST: '' })
  const need = await needEngine(here, bareMachine)
  assert.ok(need)
  assert.match(
    refusal(() => refuseUnlessProvidable(here, [need], false)),
    /sudo apt-get install docker\.io/,
  )
  assert.doesNotThrow(() => refuseUnlessProvidable(here, [need], true))
})

test('an installed Docker that does not run is started, not installed', async (t) => {
  const { here } = temporaryRepository(t, {}, { DOCKER_HOST: '' })
  const need = await needEngine(here, { hosts: [nowhere], isInstalled: true })
  assert.deepEqual(need?.packages, [])
  assert.match(need?.what ?? '', /does not answer/)
})

test('an engine chosen by DOCKER_HOST that does not answer ends set-up with one message; none is started in its place', () => {
  const setup = [join(root, 'tools/setup.mjs'), 'start']
  const { status, stdout, stderr } = spawnSync(process.execPath, setup, {
    env: { ...process.env, DOCKER_HOST: nowhere },
    encoding: 'utf8',
  })
  assert.equal(status, 1)
  assert.equal(stdout, '')
  assert.match(stderr, /DOCKER_HOST=unix:\/\/\/nonexistent\/engine\.sock, which does not answer/)
  assert.doesNotMatch(stderr, / at .*\.mjs/)
})

/** @param {() => void} act */
function refusal(act) {
  try {
    act()
  } catch (error) {
    if (error instanceof SetupProblem) return error.message
    throw error
  }
  assert.fail('set-up went on')
}

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryRepository, write } from '../../test-support/temporary-repository.mjs'
import { startDocker } from './start-docker.mjs'

/** @import { SetupContext } from '../setup-context.mjs' */

test('a dockerd whose first start fails over the remains of a killed one is started once more', async (t) => {
  const { here } = placeWithDockerd(t, '[ -e tried ] && touch up && exec sleep 1; touch tried; exit 1')
  await startDocker(here, isUp(here), machine(here))
  assert.ok(await isUp(here)())
})

test('a dockerd that does not start is reported with the end of its log', async (t) => {
  const { here } = placeWithDockerd(t, 'echo "no iptables"; exit 1')
  await assert.rejects(startDocker(here, isUp(here), machine(here)), { name: 'SetupProblem', message: /no iptables/ })
})

// CI failed on this: the machine had been switched off while a test made a network, and dockerd panicked at every start.
test('networks over which dockerd panics are put aside, and it starts', async (t) => {
  const panic = 'panic: runtime error: index out of range\n\ngoroutine 1 [running]:\ngithub.com/docker/libnetwork.New'
  const { here, said } = placeWithDockerd(t, `[ -e networks ] && printf '${panic}' && exit 2; touch up; exec sleep 1`)
  write(machine(here).networkStore, 'half written')
  await startDocker(here, isUp(here), machine(here))
  const aside = readdirSync(here.root).find((name) => name.startsWith('networks.broken-')) ?? ''
  assert.equal(readFileSync(join(here.root, aside), 'utf8'), 'half written')
  assert.match(said.join('\n'), /cannot read its own networks, which are now in .*networks\.broken-/)
})

test('the networks stay where they are when dockerd ends for another reason', async (t) => {
  const { here } = placeWithDockerd(t, 'echo "no iptables"; exit 1')
  write(machine(here).networkStore, 'whole')
  await assert.rejects(startDocker(here, isUp(here), machine(here)), { name: 'SetupProblem' })
  assert.ok(existsSync(machine(here).networkStore))
})

test('an engine that started meanwhile is not started again', async (t) => {
  const { here, said } = placeWithDockerd(t, 'touch up')
  await startDocker(here, async () => true, machine(here))
  assert.deepEqual([said, await isUp(here)()], [[], false])
})

test('the PID file of a killed dockerd whose id belongs to another program does not prevent a start', async (t) => {
  const { here } = placeWithDockerd(t, '[ -e docker.pid ] && exit 1; touch up; exec sleep 1')
  write(machine(here).pidFile, String(process.pid))
  await startDocker(here, isUp(here), machine(here))
  assert.ok(await isUp(here)())
})

test('dockerd seldom collects garbage, unless the environment says how often', async (t) => {
  for (const [given, expected] of [
    [{}, '400'],
    [{ GOGC: '50' }, '50'],
  ]) {
    const { here } = placeWithDockerd(t, 'echo "$GOGC" > told; mv told up; exec sleep 1')
    Object.assign(here.env, given)
    await startDocker(here, isUp(here), machine(here))
    assert.equal(readFileSync(join(here.root, 'up'), 'utf8').trim(), expected)
  }
})

/** @param {SetupContext} here */
const machine = (here) => ({
  hasSystemd: false,
  pidFile: join(here.root, 'docker.pid'),
  networkStore: join(here.root, 'networks'),
})

/**
 * @param {import('node:test').TestContext} t
 * @param {string} script what a stand-in for dockerd does in the place's root; the file `up` says that it answers
 */
function placeWithDockerd(t, script) {
  const made = temporaryRepository(t)
  const { root, env } = made.here
  write(join(root, 'bin/dockerd'), `#!/bin/sh\ncd "${root}"\n${script}\n`)
  env.PATH = `${join(root, 'bin')}:${env.PATH}`
  return made
}

/** @param {SetupContext} here */
const isUp = (here) => async () => existsSync(join(here.root, 'up'))

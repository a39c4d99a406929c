import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryRepository, write } from '../../test-support/temporary-repository.mjs'
import { ensureDependencies } from './dependencies.mjs'

const workspace = { name: 'part', version: '1.0.0' }
const otherSystem = { version: '1.0.0', optional: true, integrity: 'sha512-AA==', os: ['aix'], cpu: ['ppc64'] }

/** A project whose only package is its own, so that npm can install it without a registry. */
const project = {
  'package.json': JSON.stringify({ name: 'whole', version: '1.0.0', workspaces: ['part'] }),
  'part/package.json': JSON.stringify(workspace),
  'package-lock.json': lock({ '': { name: 'whole', version: '1.0.0', workspaces: ['part'] } }),
}

test('a fresh clone gets its packages, and an unchanged lock file installs nothing', async (t) => {
  const { here, said } = temporaryRepository(t, project)
  await ensureDependencies(here)
  assert.ok(existsSync(join(here.root, 'node_modules/part/package.json')))
  const before = said.length
  await ensureDependencies(here)
  assert.deepEqual(said.slice(before), [])
})

test('an install that was interrupted is done again', async (t) => {
  const { here } = temporaryRepository(t, project)
  await ensureDependencies(here)
  rmSync(join(here.root, 'node_modules/.package-lock.json'))
  rmSync(join(here.root, 'node_modules/part'))
  await ensureDependencies(here)
  assert.ok(existsSync(join(here.root, 'node_modules/part/package.json')))
})

test('an optional package of another system is not required', async (t) => {
  const { here, said } = temporaryRepository(t, project)
  await ensureDependencies(here)
  const before = said.length
  write(join(here.root, 'package-lock.json'), lock({ 'node_modules/aix-binary': otherSystem }))
  await ensureDependencies(here)
  assert.deepEqual(said.slice(before), [])
})

test('a lock file that does not match the packages is reported with the output of npm', async (t) => {
  const { here } = temporaryRepository(t, {
    ...project,
    'part/package.json': JSON.stringify({ ...workspace, dependencies: { absent: '1' } }),
  })
  here.env.npm_config_registry = 'http://127.0.0.1:9'
  here.env.npm_config_fetch_retries = '0'
  await assert.rejects(ensureDependencies(here), { name: 'SetupProblem', message: /npm error/ })
})

/** @param {Record<string, unknown>} further */
function lock(further) {
  const packages = { part: workspace, 'node_modules/part': { resolved: 'part', link: true }, ...further }
  return JSON.stringify({ name: 'whole', version: '1.0.0', lockfileVersion: 3, requires: true, packages })
}

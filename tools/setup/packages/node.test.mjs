import assert from 'node:assert/strict'
import { existsSync, readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryRepository, write } from '../../test-support/temporary-repository.mjs'
import { ensureNode, pinnedVersion } from './node.mjs'

const anyNode = `#!/bin/sh\necho v${pinnedVersion}\n`

for (const version of ['20.20.2', '22.22.0', '24.13.9']) {
  test(`a machine with Node.js ${version} runs Berth on the pinned one`, async (t) => {
    const { here } = placeWithNpm(t, 'mkdir -p "$folder/bin" && cp "$root/any-node" "$folder/bin/node"')
    await ensureNode(here, { version, execPath: '/usr/bin/node' })
    assert.match(readlinkSync(join(here.own, 'node')), new RegExp(`runtime/${pinnedVersion}/`))
    assert.ok(existsSync(join(here.own, 'node')))
  })
}

for (const version of ['24.14.0', '26.1.0']) {
  test(`a machine with Node.js ${version} runs Berth on it, and nothing is fetched`, async (t) => {
    const { here, said } = placeWithNpm(t, 'exit 1')
    await ensureNode(here, { version, execPath: process.execPath })
    assert.equal(readlinkSync(join(here.own, 'node')), process.execPath)
    assert.deepEqual(said, [])
  })
}

test('a link to a removed Node.js is replaced', async (t) => {
  const { here } = placeWithNpm(t, 'exit 1')
  write(join(here.own, 'node.log'), '')
  symlinkSync('/nonexistent/node', join(here.own, 'node'))
  await ensureNode(here, { version: '24.14.0', execPath: process.execPath })
  assert.equal(readlinkSync(join(here.own, 'node')), process.execPath)
})

test('without a registry set-up says to install Node.js by hand, and leaves no link', async (t) => {
  const { here } = temporaryRepository(
    t,
    {},
    { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' },
  )
  const own = { version: '20.20.2', execPath: process.execPath }
  await assert.rejects(ensureNode(here, own), {
    name: 'SetupProblem',
    message: /Install Node\.js 24\.14 or newer yourself/,
  })
  assert.ok(!existsSync(join(here.own, 'node')))
})

// The old one was deleted first: a service could start no process any more when the registry did not answer.
test('another pinned version replaces the one before only when it runs', async (t) => {
  const { here } = placeWithNpm(
    t,
    '[ -e "$root/registry" ] || exit 1; mkdir -p "$folder/bin" && cp "$root/any-node" "$folder/bin/node"',
  )
  const [link, before] = [join(here.own, 'node'), join(here.own, 'runtime/24.14.0/node')]
  write(before, anyNode)
  symlinkSync(before, link)
  const own = { version: '20.20.2', execPath: '/usr/bin/node' }
  await assert.rejects(ensureNode(here, own), { name: 'SetupProblem' })
  assert.equal(readlinkSync(link), before)
  assert.ok(existsSync(before))
  write(join(here.root, 'registry'), '')
  await ensureNode(here, own)
  assert.match(readlinkSync(link), new RegExp(`runtime/${pinnedVersion}/`))
  assert.ok(existsSync(link) && !existsSync(before))
})

/**
 * @param {import('node:test').TestContext} t
 * @param {string} script what a stand-in for npm does; `$folder` is where the asked package belongs
 */
function placeWithNpm(t, script) {
  const made = temporaryRepository(t, { 'any-node': anyNode })
  const { root, env } = made.here
  const folder = 'for wanted; do :; done; folder="$PWD/node_modules/${wanted%@*}"'
  write(join(root, 'bin/npm'), `#!/bin/sh\nroot="${root}"\n${folder}\n${script}\n`)
  env.PATH = `${join(root, 'bin')}:${env.PATH}`
  return made
}

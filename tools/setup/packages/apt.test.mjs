import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryRepository, write } from '../../test-support/temporary-repository.mjs'
import { aptInstall } from './apt.mjs'

test('on a machine without package lists the lists are fetched and the package is installed', async (t) => {
  const { here, said } = placeWithApt(t, '[ "$1" = update ] && touch lists && exit; [ -e lists ] && touch installed')
  await aptInstall(here, ['chromium'])
  assert.ok(existsSync(join(here.root, 'installed')))
  assert.match(said[0] ?? '', /installing Debian's chromium/)
})

test("when a package is unavailable, apt-get's output is shown", async (t) => {
  const { here } = placeWithApt(t, 'echo "E: Unable to locate package chromium" >&2; [ "$1" = update ]')
  await assert.rejects(aptInstall(here, ['chromium']), { name: 'SetupProblem', message: /E: Unable to locate package/ })
})

/**
 * @param {import('node:test').TestContext} t
 * @param {string} script what a stand-in for apt-get does in the place's root
 */
function placeWithApt(t, script) {
  const made = temporaryRepository(t)
  const { root, env } = made.here
  write(join(root, 'bin/apt-get'), `#!/bin/sh\ncd "${root}"\n${script}\n`)
  env.PATH = `${join(root, 'bin')}:${env.PATH}`
  return made
}

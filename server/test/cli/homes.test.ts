// Part of npm run test:more: a command over what specification/containers/home-owner states.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { homeVolume } from '#/containers/container-name.ts'
import { createDockerRuntime } from '#/engines/docker/docker-runtime.ts'
import { ensureContainer, setHomeProblem } from '#/store/user-containers.ts'
import { installationName, openDatabase } from '#/store/database.ts'
import { findUserByEmail } from '#/store/users.ts'
import { makeStore, runCommand } from '#test/support/command-line.ts'
import { newInstallation, removeInstallation, testImage } from '#test/support/engine/engine.ts'
import { plainSpec } from '#test/support/engine/runtimes.ts'
import { runProgram } from '#test/support/program.ts'

test('homes with a problem are listed, given to their programs, and given back by the command that is printed', async (t) => {
  const dataDir = await makeStore(mkdtempSync(path.join(tmpdir(), 'berth-homes-')))
  const image = await testImage()
  const env = { DATA_DIR: dataDir, CONTAINER_TEMPLATES: JSON.stringify({ dev: { image, port: 8080 } }) }
  const { db, close } = await openDatabase(null, dataDir)
  const ann = await findUserByEmail(db, 'ann@x.org')
  assert.ok(ann)
  const record = await ensureContainer(db, ann.id, 'dev', image, new Date())
  assert.ok(record)
  await setHomeProblem(db, record.id, { program: 4321, owner: 0 })
  const installation = await installationName(db, newInstallation)
  await close()
  const runtime = createDockerRuntime({ installation, dockerHost: process.env.DOCKER_HOST, network: installation })
  await runtime.prepare()
  t.after(async () => {
    await removeInstallation(installation)
    rmSync(dataDir, { recursive: true, force: true })
  })
  const owner = { userId: ann.id, slug: ann.slug, type: 'dev' }
  const home = { volume: homeVolume(installation, ann.id, ann.slug, 'dev'), path: '/nowhere', size: null }
  await runtime.create({ ...plainSpec, name: `${installation}-${ann.slug}-other`, owner, image, home })

  const berth = (...args: string[]) => runCommand(env, 'homes', ...args)
  const listed = await berth('problems', '--type', 'dev')
  assert.match(listed.stdout, /1 +ann@x\.org +dev +4321 +0/, listed.stderr)
  assert.match((await berth('problems', '--type', 'prod')).stderr, /None/)
  assert.match((await berth('chown', '1')).stderr, /Berth does not run\. Start it first/)
  for (const args of [[], ['1', '--all'], ['1', '--type', 'dev'], ['1', '--to', 'ann']])
    assert.equal((await berth('chown', ...args)).code, 2, args.join(' '))

  const program = runProgram(t, env, dataDir)
  await program.said(/Berth is ready/)
  const done = await berth('chown', '--all')
  assert.match(
    done.stdout,
    /1: 1 of 1 files and folders .* Way back: berth homes chown 1 --from 4321 --to 0\n/,
    done.stderr,
  )
  assert.match((await berth('problems')).stderr, /None/)
  assert.match((await berth('chown', '--all', '--type', 'dev')).stderr, /There is no such home/)
  const back = await berth('chown', '1', '--from', '4321', '--to', '0', '--json')
  assert.equal(JSON.parse(back.stdout).done[0].changed, 1, back.stderr)
  assert.match((await berth('chown', '99', '--to', '1')).stderr, /99: /)
})

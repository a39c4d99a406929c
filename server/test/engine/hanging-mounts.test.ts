import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Mount } from '#/engines/container-spec.ts'
import { answeringPaths } from '#/machine/answering-paths.ts'
import { readTemplate } from '#/templates/read-templates.ts'
import { TemplateSources } from '#/templates/template-sources.ts'
import { openInstallation } from '../support/engine/runtimes.ts'

/** A file system of the kernel that hangs, as NFS without its server: one of FUSE whose program never answers. */

const skip = process.getuid?.() !== 0 || !existsSync('/dev/fuse') ? 'needs root and /dev/fuse' : false

/** @returns its folders, and what makes the file system answer, with an error */
function hangingFileSystem(t: TestContext) {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'berth-hanging-')))
  const at = (name: string) => path.join(base, name)
  for (const name of ['away', 'local']) mkdirSync(at(name))
  writeFileSync(path.join(at('local'), 'text'), 'lesson')
  const program = openSync('/dev/fuse', 'r+')
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0'
  const mounted = spawnSync('mount', ['-i', '-t', 'fuse', '-o', options, 'hanging', at('away')], {
    stdio: ['ignore', 'ignore', 'pipe', program],
  })
  assert.equal(mounted.status, 0, String(mounted.stderr))
  let isOpen = true
  const end = () => {
    if (isOpen) closeSync(program)
    isOpen = false
  }
  t.after(() => {
    end()
    spawnSync('umount', ['-l', at('away')])
    rmSync(base, { recursive: true })
  })
  return { away: at('away'), local: at('local'), end }
}

const templateWith = (folder: string) => {
  const mounts = [{ source: { path: folder }, target: '/data' }]
  const { template, problems } = readTemplate('lab', { image: 'x', mounts })
  assert.ok(template, problems.join())
  return template
}

test(
  'while a file system hangs a launch into it names it, and containers with other folders are made',
  { skip },
  async (t) => {
    const { away, local, end } = hangingFileSystem(t)
    const { runtime, spec } = await openInstallation(t)
    const owner = { userId: 1, slug: 'ann' }
    const sources = new TemplateSources({ secretsDir: null, mountRoots: [away, local] })
    const launch = async (folder: string) => {
      const template = templateWith(folder)
      await sources.whenAnswering(template, owner)
      const mounts: Mount[] = sources.mountsOf(template, owner)
      return runtime.create(spec(path.basename(folder), { mounts }))
    }
    const named = new RegExp(`^lab: ${away}/ann of its mounts: the file system at ${away} does not answer$`)
    const [refused, made] = await Promise.allSettled([launch(`${away}/ann`), launch(local)])
    assert.match(String((refused as PromiseRejectedResult).reason?.message), named)
    assert.equal(made.status, 'fulfilled', String((made as PromiseRejectedResult).reason))
    // Threads of this process are left, however many ask.
    await Promise.all(Array.from({ length: 20 }, () => assert.rejects(launch(`${away}/ann`), { message: named })))
    assert.equal(await readFile(path.join(local, 'text'), 'utf8'), 'lesson')
    // What was checked may hang until the engine is asked to mount it.
    const bound = { source: { path: away }, target: '/data', readOnly: true }
    await assert.rejects(
      runtime.create(spec('bound', { mounts: [bound] })),
      /its mount .*\/away: the file system at .* does not answer/,
    )
    end()
    while ((await answeringPaths.silentPlace(away)) !== undefined) await new Promise(setImmediate)
    await assert.rejects(launch(`${away}/ann`), /which cannot be read .ENOTCONN/)
  },
)

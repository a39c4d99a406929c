import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { temporaryRepository } from '../../test-support/temporary-repository.mjs'
import { refuseUnlessProvidable } from '../machine.mjs'
import { compileContainerTool, compilerFor, ensureContainerTool, needCompiler } from './container-tool.mjs'

const root = resolve(import.meta.dirname, '../../..')

test('the container tool compiles without a warning', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-tool-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const compiler = compilerFor(process.arch, process.env) ?? ''
  const target = join(folder, 'berth-tool')
  await compileContainerTool({ root, compiler, target, log: join(folder, 'log'), isStrict: true })
})

test('a machine without a compiler on which set-up may not install one starts all the same, and is told', async (t) => {
  const { here, said } = temporaryRepository(t, { 'container-tool/berth-tool.c': '' }, { PATH: '/nonexistent' })
  const need = await needCompiler(here)
  assert.ok(need)
  assert.deepEqual(refuseUnlessProvidable(here, [need], false), [])
  await ensureContainerTool(here)
  assert.match(said.join('\n'), /container tool: not compiled/)
})

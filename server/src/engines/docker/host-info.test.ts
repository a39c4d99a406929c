import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { canRaiseOpenFiles } from './host-info.ts'

/** @param programs hard limit of open files, by the program's name */
function procWith(t: TestContext, programs: Record<string, string>): string {
  const proc = mkdtempSync(path.join(tmpdir(), 'berth-proc-'))
  t.after(() => rmSync(proc, { recursive: true }))
  mkdirSync(path.join(proc, 'sys'))
  for (const [index, [name, limit]] of Object.entries(programs).entries()) {
    mkdirSync(path.join(proc, String(index + 1)))
    writeFileSync(path.join(proc, String(index + 1), 'comm'), `${name}\n`)
    const limits = `Limit   Soft Limit  Hard Limit  Units\nMax open files            1024       ${limit}       files\n`
    writeFileSync(path.join(proc, String(index + 1), 'limits'), limits)
  }
  return proc
}

test('the usual number of open files is given where the engine and what it starts have as many', async (t) => {
  assert.equal(
    await canRaiseOpenFiles(procWith(t, { dockerd: '1048576', containerd: 'unlimited', bash: '1024' })),
    true,
  )
})

test('it is left out where one of them has fewer, and where none is seen', async (t) => {
  assert.equal(await canRaiseOpenFiles(procWith(t, { dockerd: '1048576', containerd: '20000' })), false)
  assert.equal(await canRaiseOpenFiles(procWith(t, { bash: '1048576' })), false)
  assert.equal(await canRaiseOpenFiles('/nowhere'), false)
})

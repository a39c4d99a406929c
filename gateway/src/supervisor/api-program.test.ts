import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { apiProgram, apiNode } from './api-program.ts'

const sourceFolders = ['server/src', 'gateway/src', 'cli/src', 'texts/src', 'api/src']

test('the bundle runs in a release, and in a repository while it is newer than every source; otherwise the sources do', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'berth-bundle-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const folder of [...sourceFolders, 'server/src/http', '.berth/server'])
    mkdirSync(path.join(root, folder), { recursive: true })
  const [source, bundle] = [path.join(root, 'server/src/http/a.ts'), path.join(root, '.berth/server/api-process.js')]
  for (const file of [source, path.join(root, 'api/src/b.ts'), path.join(root, 'package-lock.json')])
    writeFileSync(file, '')
  const sources = path.join(root, 'server/src/start/api-process.ts')

  assert.equal(apiProgram(root), sources)
  writeFileSync(bundle, '')
  const later = new Date(Date.now() + 60_000)
  utimesSync(bundle, later, later)
  assert.equal(apiProgram(root), bundle)
  utimesSync(source, later, new Date(later.getTime() + 1_000))
  assert.equal(apiProgram(root), sources, 'a source was changed since')
  writeFileSync(path.join(root, 'RELEASE'), 'berth 1.0.0 linux-x64')
  assert.equal(apiProgram(root), bundle, 'a release has no changed sources')
})

test('a link to a release leads to the program and the Node of the version that it names now', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'berth-releases-'))
  t.after(() => rmSync(root, { recursive: true }))
  const current = path.join(root, 'current')
  for (const version of ['1.0.0', '1.0.1']) {
    mkdirSync(path.join(root, version, '.berth/server'), { recursive: true })
    for (const folder of sourceFolders) mkdirSync(path.join(root, version, folder), { recursive: true })
    for (const file of ['package-lock.json', 'node', '.berth/server/api-process.js'])
      writeFileSync(path.join(root, version, file), '')
    rmSync(current, { force: true })
    symlinkSync(version, current)
    const [program, runtime] = [apiProgram(current), apiNode(current)].map((file) => realpathSync(file))
    assert.equal(program, path.join(root, version, '.berth/server/api-process.js'))
    assert.equal(runtime, path.join(root, version, 'node'))
  }
  assert.equal(apiNode(path.join(root, 'no-release')), process.execPath)
})

// Our own is a real path, which set-up removes with its folder when another version of Node is pinned.
test('a repository has a link to its Node, which leads to the one that set-up fetched last', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'berth-repository-'))
  t.after(() => rmSync(root, { recursive: true }))
  mkdirSync(path.join(root, '.berth'))
  const [link, fetched] = [path.join(root, '.berth/node'), path.join(root, 'fetched')]
  symlinkSync(fetched, link)
  assert.equal(apiNode(root), process.execPath, 'it leads nowhere')
  writeFileSync(fetched, '')
  assert.equal(apiNode(root), link)
})

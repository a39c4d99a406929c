import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

/** The command of the Debian package as root calls it, with another program and another account in the place of its own. */
const source = readFileSync(path.resolve(import.meta.dirname, '../../tools/release/files/debian/berth'), 'utf8')
const isRoot = process.getuid?.() === 0

test(
  'files of root are read and written for a command that runs as the account of the service',
  { skip: !isRoot && 'needs root' },
  (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'berth-package-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    chmodSync(folder, 0o755)
    const own = path.join(folder, 'root')
    mkdirSync(own, { mode: 0o700 })
    writeFileSync(path.join(own, 'class.csv'), 'ann@x.org\n', { mode: 0o600 })
    const [inner, command, temporary] = ['inner', 'berth', 'tmp'].map((name) => path.join(folder, name)) as [
      string,
      string,
      string,
    ]
    mkdirSync(temporary)
    chmodSync(temporary, 0o1777)
    writeFileSync(
      inner,
      '#!/bin/sh\nid -un\nfor word; do case $word in *.csv) cat "$word"; basename "$word";; *.json) echo exported >"$word";; esac; done\nexit 3\n',
      { mode: 0o755 },
    )
    writeFileSync(
      command,
      source
        .replaceAll('/usr/lib/berth/berth', inner)
        .replace(/=berth\b/g, '=nobody')
        .replace(/nobody(?= --group)/g, 'nobody')
        .replaceAll('--group=nobody', '--group=nogroup')
        .replaceAll('--regid=nobody', '--regid=nogroup')
        .replace('chown berth:', 'chown nobody:'),
      { mode: 0o755 },
    )
    const run = (...words: string[]) =>
      spawnSync(command, words, { cwd: own, env: { PATH: process.env.PATH, TMPDIR: temporary }, encoding: 'utf8' })
    const read = run('users', 'invite', '--csv', 'class.csv')
    assert.deepEqual([read.status, read.stdout], [3, 'nobody\nann@x.org\nclass.csv\n'], read.stderr)
    run('users', 'export', 'ann@x.org', '--output', 'ann.json')
    const file = path.join(own, 'ann.json')
    assert.deepEqual(
      [readFileSync(file, 'utf8'), statSync(file).uid, statSync(file).mode & 0o777],
      ['exported\n', 0, 0o600],
    )
    assert.equal(run('status').stdout, 'nobody\n')
    assert.deepEqual(readdirSync(temporary), [])
    assert.ok(existsSync(path.join(own, 'class.csv')))
  },
)

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { readSecretFile } from './secret-file.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'berth-secret-'))
after(() => rmSync(folder, { recursive: true }))

const secret = (text: string, mode = 0o600) => {
  const file = path.join(folder, 'secret')
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}

test('a secret is the line in its file, without the line break', () => {
  assert.deepEqual(readSecretFile(secret('hush')), { value: 'hush' })
  assert.deepEqual(readSecretFile(secret('hush\n')), { value: 'hush' })
  assert.deepEqual(readSecretFile(secret('hush\r\n')), { value: 'hush' })
  // Kubernetes mounts links.
  symlinkSync(secret(' hush ', 0o440), path.join(folder, 'link'))
  assert.deepEqual(readSecretFile(path.join(folder, 'link')), { value: ' hush ' })
})

test('a file that every account can use is refused, with the command that mends it', () => {
  for (const mode of [0o604, 0o602, 0o644]) {
    const file = secret('hush', mode)
    const read = readSecretFile(file)
    assert.ok('problem' in read)
    assert.match(read.problem, /every account of this machine can use .*\. Run: chmod o= \S+ \(/)
    const [, command = ''] = /Run: (.*?) \(/.exec(read.problem) ?? []
    execFileSync('sh', ['-c', command])
    assert.deepEqual(readSecretFile(file), { value: 'hush' })
  }
})

test('a file that is missing, empty, longer than a line or a secret, a folder or a pipe is refused without its text', () => {
  mkdirSync(path.join(folder, 'folder'))
  execFileSync('mkfifo', ['-m', '600', path.join(folder, 'pipe')])
  const problem = (file: string) => {
    const read = readSecretFile(file)
    assert.ok('problem' in read, file)
    assert.doesNotMatch(read.problem, /hush/)
    return read.problem
  }
  assert.match(problem(path.join(folder, 'nowhere')), /^there is no file .*nowhere$/)
  assert.match(problem(secret('\n')), / is empty$/)
  assert.match(problem(secret('hush\nhush')), / must hold the secret alone, on one line$/)
  assert.match(problem(secret('hush'.repeat(5_000))), / has 20000 bytes; a secret has at most 16384$/)
  assert.match(problem(path.join(folder, 'folder')), / is not a regular file$/)
  assert.match(problem(path.join(folder, 'pipe')), / is not a regular file$/)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changesOf } from './source-changes.ts'

test('what changed of packages, of a repository and of a Dockerfile is told by lines', () => {
  const packages = { base: 'python:3.13', apt: ['jq'], pip: ['pandas', 'scipy'] }
  assert.deepEqual(changesOf(packages, packages), [])
  assert.deepEqual(changesOf(packages, { base: 'python:3.14', apt: ['jq'], pip: ['scipy', 'numpy'] }), [
    '- base: python:3.13',
    '- pip: pandas',
    '+ base: python:3.14',
    '+ pip: numpy',
  ])
  const git = { git: 'https://x.org/y' }
  assert.deepEqual(changesOf({ ...git, ref: null }, { ...git, ref: 'main' }), ['+ ref: main'])
  assert.deepEqual(changesOf({ ...git, commit: 'a1' }, { ...git, commit: 'b2' }), ['- commit: a1', '+ commit: b2'])
  assert.deepEqual(changesOf(git, { dockerfile: 'FROM a\n\nRUN x\nRUN x\n' }), [
    '- git: https://x.org/y',
    '+ FROM a',
    '+ RUN x',
    '+ RUN x',
  ])
  assert.deepEqual(changesOf({ dockerfile: 'FROM a\nRUN x\nRUN x' }, { dockerfile: 'FROM a\r\nRUN x' }), ['- RUN x'])
})

test('a long change is cut', () => {
  const lines = Array.from({ length: 500 }, (_, at) => `RUN echo ${at} ${'x'.repeat(300)}`)
  const told = changesOf({ dockerfile: 'FROM a' }, { dockerfile: ['FROM a', ...lines].join('\n') })
  assert.equal(told.length, 200)
  assert.ok(told.every((line) => line.length <= 200))
})

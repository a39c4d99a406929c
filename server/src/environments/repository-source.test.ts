import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DockerfileProblem } from './dockerfile.ts'
import { recognise } from './repository-source.ts'

/** A repository with one file. */
function filesOf(path: string, text: string): Parameters<typeof recognise>[0] {
  const place = { size: text.length, offset: 0, hash: '' }
  return {
    entries: [{ kind: 'file', path, mode: 0o644, mtime: new Date(0), ...place }],
    async *read() {
      yield Buffer.from(text)
    },
  }
}
const recogniseCommand = (command: string) =>
  recognise(filesOf('devcontainer.json', `{"image": "a", "postCreateCommand": ${command}}`), '', undefined)

test('a command of devcontainer.json is a text, a list of words, or a map of these', async () => {
  const runs = async (command: string) => (await recogniseCommand(command)).dockerfile.split('\n').slice(4)
  assert.deepEqual(await runs('"x y"'), ['RUN ["/bin/sh","-ec","x y"]'])
  assert.deepEqual(await runs('{"one": ["x", "y"], "two": "z"}'), ['RUN ["x","y"]', 'RUN ["/bin/sh","-ec","z"]'])
})

test('any other command is refused, such as one within itself', async () => {
  for (const command of ['&a {x: *a}', '["x", {"toString": 1}]', '{"one": {"two": "x"}}', '7'])
    await assert.rejects(recogniseCommand(command), DockerfileProblem, command)
})

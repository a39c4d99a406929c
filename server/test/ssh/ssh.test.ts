import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sshArgs, startSsh } from './ssh-rig.ts'

const rig = await startSsh({ after })
const ann = await rig.berth.signUp('ann@x.org')
const key = rig.makeKey('ann', '-t', 'ed25519')
await rig.addKey(ann, key)

test('a command runs in the container, with its input, outputs and exit status', async () => {
  const ended = await rig.run('ssh', sshArgs(rig, key, 'ann-dev', 'cat; echo err >&2; exit 7'), 'hello\n')
  assert.deepEqual({ ...ended, output: ended.output.toString() }, { code: 7, output: 'hello\n', errors: 'err\n' })
})

// Needs a process of its own: it takes the time of ten others.
import assert from 'node:assert/strict'
import { userInfo } from 'node:os'
import { test, type TestContext } from 'node:test'
import type { AdminContainer, AdminUser } from '@berth/api/schemas/administration/admin.ts'
import type { AuditEntry } from '@berth/api/schemas/administration/audit.ts'
import { runCommand, type CommandResult } from '#test/support/command-line.ts'
import { testTemplates } from '#test/support/berth.ts'
import { askEngine } from '#test/support/engine/engine.ts'
import { startPostgres } from '#test/support/store/postgres.ts'
import { runProgram, signIn, type Program } from '#test/support/program.ts'
import { onlyLong } from '#test/support/extent.ts'

/** The program `berth` beside the real service, with a real container: while that runs, and after it was stopped. */

/** Ends when it is asked to: the first process of a container ignores what it does not listen for. */
const command = ['/bin/sh', '-c', "trap 'exit 0' TERM; httpd -f -p 8080 -h /home/berth & wait"]

interface Scene {
  readonly service: Program
  readonly settings: Record<string, string>
  /** Of Ann, who is signed in. */
  readonly token: string
  readonly ann: AdminUser
  /** Hers, which runs. */
  readonly container: AdminContainer
  berth(...args: string[]): Promise<CommandResult>
  /** What it printed; it has to succeed. */
  must(...args: string[]): Promise<string>
  isRunning(): Promise<boolean>
  launch(): Promise<void>
  stop(): Promise<void>
}

async function setScene(t: TestContext, more: Record<string, string>): Promise<Scene> {
  const settings = { ...more, CONTAINER_TEMPLATES: await testTemplates({ command }) }
  const service = runProgram(t, settings)
  await signIn(service, 'boss@x.org')
  const token = await signIn(service, 'ann@x.org')
  const launch = async () => {
    const answer = await service.fetch('/api/container/launch/dev', token, { method: 'POST' })
    assert.equal(answer.status, 200, await answer.text())
  }
  await launch()
  const berth = (...args: string[]) => runCommand({ ...settings, DATA_DIR: service.dataDir }, ...args)
  const must = async (...args: string[]) => {
    const { code, stdout, stderr } = await berth(...args)
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
    return stdout
  }
  const ann = JSON.parse(await must('users', 'show', 'ann@x.org', '--json')) as AdminUser
  const container = ann.containers[0] ?? assert.fail('Ann has no container')
  const isRunning = async () => {
    const found = await askEngine<{ State: { Running: boolean } }>('GET', `/containers/${container.container_id}/json`)
    return found.State.Running
  }
  const stop = async () => {
    service.process.kill('SIGTERM')
    assert.equal(await service.ended(), 0)
  }
  return { service, settings, token, ann, container, berth, must, isRunning, launch, stop }
}

const linesOf = <T>(stdout: string): T[] =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T)

/** What the audit log says of the operator, the newest first. */
async function actionsIn({ must }: Scene): Promise<string[]> {
  const entries = linesOf<AuditEntry>(await must('audit', 'list', '--actor', operator, '--json'))
  return entries.map(({ action }) => action)
}

/** As the program says it of the account that runs the tests. */
const operator = `operator ${userInfo().username}`

test(
  'with SQLite the command line works on a service that runs, on one whose API is replaced, and on one that is stopped',
  onlyLong,
  async (t) => {
    const scene = await setScene(t, {})
    const { service, settings, berth, must, container } = scene
    assert.match(await must('status'), /^Berth runs since /)
    assert.match(await must('containers', 'stop', String(container.id)), /is stopped/)
    assert.equal(await scene.isRunning(), false)
    const link = (await must('link', 'ann@x.org')).trim()
    assert.ok(!service.output().includes(link.split('token=')[1] ?? assert.fail(link)))

    service.process.kill('SIGHUP')
    assert.equal(linesOf(await must('users', 'list', '--json')).length, 2)
    await service.said(/the API is back/)
    await scene.launch()
    await must('keys', 'rotate')
    assert.equal((await service.fetch('/api/user/me', scene.token)).status, 200, 'no user is signed out')

    await scene.stop()
    assert.match(await must('status'), /does not run/)
    assert.equal(await scene.isRunning(), true)
    const blocked = await berth('users', 'block', 'ann@x.org')
    assert.deepEqual([blocked.code, blocked.stderr], [0, ''], blocked.stdout)
    assert.equal(await scene.isRunning(), false, 'what was blocked is stopped without a service')
    assert.match((await berth('link', 'ann@x.org')).stderr, /blocked/)
    await must('users', 'unblock', String(scene.ann.id))
    assert.deepEqual(await actionsIn(scene), [
      'user.unblock',
      'user.block',
      'keys.rotate',
      'link.print',
      'container.stop',
    ])
    assert.match(await must('audit', 'verify'), /is whole: \d+ entries/)

    const again = runProgram(t, settings, service.dataDir)
    await again.said(/Berth is ready/)
    assert.equal((await again.fetch(`/api/auth/verify-login?${link.split('?')[1]}`)).status, 200)
  },
)

test('with PostgreSQL it works on a service that runs and on one that is stopped', onlyLong, async (t) => {
  const postgres = await startPostgres()
  try {
    await t.test('both', async (inner) => {
      const scene = await setScene(inner, { DATABASE_URL: postgres.url })
      const { must, container, ann } = scene
      assert.match(await must('containers', 'block', String(container.id)), /is blocked/)
      assert.equal(await scene.isRunning(), false)
      await must('containers', 'unblock', String(container.id))
      await scene.launch()
      await scene.stop()
      await must('users', 'delete', String(ann.id), '--yes')
      await assert.rejects(scene.isRunning(), /No such container/i)
      assert.deepEqual(await actionsIn(scene), ['user.delete', 'container.unblock', 'container.block'])
    })
  } finally {
    await postgres.stop()
  }
})

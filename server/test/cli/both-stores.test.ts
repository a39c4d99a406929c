import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AdminUser } from '@berth/api/admin.ts'
import type { AuditEntry } from '@berth/api/audit.ts'
import { runCommand } from '#test/support/command-line.ts'
import { askEngine } from '#test/support/engine.ts'
import { startPostgres } from '#test/support/postgres.ts'
import { runProgram, signIn } from '#test/support/program.ts'
import { testTemplates } from '#test/support/berth.ts'

const postgres = await startPostgres()
after(() => postgres.stop())

/** Ends when it is asked to: the first process of a container ignores what it does not listen for. */
const command = ['/bin/sh', '-c', "trap 'exit 0' TERM; httpd -f -p 8080 -h /home/berth & wait"]

const linesOf = <T>(stdout: string): T[] =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T)

const isRunning = async (id: string) =>
  (await askEngine<{ State: { Running: boolean } }>('GET', `/containers/${id}/json`)).State.Running

for (const [store, more] of [
  ['SQLite', {}],
  ['PostgreSQL', { DATABASE_URL: postgres.url }],
] as const) {
  test(`with ${store} the command line works on a service that runs, on one whose API is replaced, and on one that is stopped`, async (t) => {
    const settings = { ...more, CONTAINER_TEMPLATES: await testTemplates({ command }) }
    const service = runProgram(t, settings)
    await signIn(service, 'boss@x.org')
    const token = await signIn(service, 'ann@x.org')
    const berth = (...args: string[]) => runCommand({ ...settings, DATA_DIR: service.dataDir }, ...args)
    const must = async (...args: string[]) => {
      const { code, stdout, stderr } = await berth(...args)
      assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
      return stdout
    }
    const ann = JSON.parse(await must('users', 'show', 'ann@x.org', '--json')) as AdminUser
    const [container] = ann.containers
    assert.ok(container?.container_id)

    assert.match(await must('status'), /^Berth runs since .*\n.*engine +answers/)
    assert.match(await must('containers', 'stop', String(container.id)), /is stopped/)
    assert.equal(await isRunning(container.container_id), false)
    const link = (await must('link', 'ann@x.org')).trim()
    assert.ok(!service.output().includes(link.split('token=')[1] ?? assert.fail()))

    service.process.kill('SIGHUP')
    assert.equal(linesOf(await must('users', 'list', '--json')).length, 2)
    await service.said(/the API is back/)
    assert.equal((await service.fetch('/api/container/launch/dev', token, { method: 'POST' })).status, 200)
    assert.equal(await isRunning(container.container_id), true)

    service.process.kill('SIGTERM')
    assert.equal(await service.ended(), 0)
    assert.match(await must('status'), /does not run/)
    const blocked = await berth('users', 'block', 'ann@x.org')
    assert.deepEqual([blocked.code, blocked.stderr], [0, ''], blocked.stdout)
    assert.equal(await isRunning(container.container_id), false, 'what was blocked is stopped without a service')
    assert.match((await berth('link', 'ann@x.org')).stderr, /blocked/)
    await must('users', 'unblock', String(ann.id))
    const entries = linesOf<AuditEntry>(await must('audit', 'list', '--actor', 'operator root', '--json'))
    const done = ['user.unblock', 'user.block', 'link.print', 'container.stop']
    assert.deepEqual(
      entries.map(({ action }) => action),
      done,
    )
    assert.match(await must('audit', 'verify'), /is whole: \d+ entries/)
    const again = runProgram(t, settings, service.dataDir)
    await again.said(/Berth is ready/)
    assert.equal((await again.fetch(`/api/auth/verify-login?${link.split('?')[1]}`)).status, 200)
  })
}

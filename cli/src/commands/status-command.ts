import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { defineCommand } from '#/command.ts'
import { withApi } from '#/with-api.ts'
import { findService } from '#/find-service.ts'
import { formatInstant } from '#/terminal.ts'

/** `berth status`. */
export const status = defineCommand({
  description: 'show whether Berth runs, since when, and its state',
  effect: 'Read-only. The exit code is also 0 when Berth does not run; --json then prints {"running": false}.',
  examples: [
    ['status', 'short status'],
    ['status --json | jq -e .running', 'for a script'],
  ],
  work: async (context) => {
    const { dataDir, terminal, signal } = context
    const service = await findService({ dataDir, note: (line) => terminal.note(line), signal })
    if (!service) {
      terminal.json({ running: false, data_dir: dataDir })
      return terminal.print(`Berth does not run (data in ${dataDir}). ${howToStart}`)
    }
    const report = await withApi(context, (api) => api.systemReport())
    const since = service.since.toISOString()
    terminal.json({ running: true, since, pid: service.pid, data_dir: dataDir, ...report })
    terminal.print(`Berth runs since ${formatInstant(since)} UTC (process ${service.pid}, data in ${dataDir}).`)
    for (const line of linesOf(report)) terminal.print(line)
  },
})

/** The program does not know how it was installed. */
const howToStart =
  'Start its service, such as by "systemctl start berth" or "docker start berth"; in the repository: "npm start".'

function linesOf({ reconciler, launches, containers, warnings, nodes }: SystemReport): string[] {
  const max = containers.max === null ? '' : ` of ${containers.max}`
  return [
    `  engine      ${reconciler.is_engine_answering ? 'answers' : 'does not answer'}`,
    `  containers  ${containers.running}${max} running`,
    `  launches    ${launches.under_way} under way, ${launches.waiting} waiting`,
    `  reconciled  ${formatInstant(reconciler.last_success)}`,
    ...nodes.map((each) => `  node        ${each.address} ${stateOf(each)}`),
    ...[...reconciler.failures, ...warnings].map((each) => `  ! ${each}`),
  ]
}

function stateOf({ is_alive, is_current, leads_since }: SystemReport['nodes'][number]): string {
  if (!is_alive) return 'does not answer'
  if (leads_since !== null) return `leads since ${formatInstant(leads_since)}`
  return is_current ? 'follows' : 'follows, and is behind: it refuses containers'
}

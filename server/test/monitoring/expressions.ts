import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'

/** Files of deploy/monitoring. */
export const folder = path.resolve(import.meta.dirname, '../../../deploy/monitoring')

const read = (name: string) => readFileSync(path.join(folder, name), 'utf8')

export interface Expression {
  /** Title of the panel, or name of the alert. */
  readonly where: string
  readonly expr: string
}

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[]
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}

export const dashboardExpressions = (): Expression[] =>
  (JSON.parse(read('grafana-dashboard.json')) as Dashboard).panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ where: title, expr })),
  )

export const alertExpressions = (): Expression[] =>
  (parse(read('alerts.yml')) as Rules).groups.flatMap(({ rules }) =>
    rules.map(({ alert, expr }) => ({ where: alert, expr })),
  )

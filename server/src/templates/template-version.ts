import { createHash } from 'node:crypto'
import type { Template } from './template.ts'

/**
 * Version of a template: another one when containers that are made from it differ. Names, idle times, and what the gateway
 * does with requests and answers, count for running containers at once, and are no part of it.
 */
export function templateVersion(template: Template): string {
  const { type, image, port, env, command, memory, cpus, pids, shmSize, gpus, devices } = template
  const { home, homeSize, runtime, readOnly, capAdd, allowSetuid, secrets, mounts, parameters } = template
  const limits = [memory, cpus, pids, shmSize, gpus, devices]
  const files = [home, homeSize, secrets, mounts]
  // A field that came later leaves the version alone while it has its default.
  const chosen = Object.values(parameters).map((each) => [each.env, each.default])
  const later = [
    ...(chosen.length === 0 ? [] : [chosen]),
    ...(template.files.length === 0 ? [] : [template.files]),
    ...(template.kubernetes ? [template.kubernetes] : []),
  ]
  const made = [type, image, port, env, command, limits, files, runtime, readOnly, capAdd, allowSetuid, ...later]
  return createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16)
}

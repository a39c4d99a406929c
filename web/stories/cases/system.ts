import type { HistorySample, SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { minutesAgo } from '../user-fixtures.ts'

const GiB = 2 ** 30

/** An installation without problems. */
export const healthy: SystemReport = {
  version: '1.0.0',
  reconciler: {
    last_success: minutesAgo(0.2),
    last_run: minutesAgo(0.2),
    duration_ms: 84,
    is_engine_answering: true,
    actions: { adopt: 3, stop: 12, remove: 4, forget: 1, restore: 28, note: 31 },
    failures: [],
  },
  launches: { waiting: 0, under_way: 1, parallel: 4 },
  containers: { running: 42, max: 120, addresses_left: 960 },
  gpus: {
    total: 4,
    in_use: 4,
    waiting: 2,
    containers: [
      { user_id: 4, email: 'ada@example.org', container_type: 'gpu-lab', ids: ['0'] },
      { user_id: 9, email: 'grace@example.org', container_type: 'gpu-lab', ids: ['1', '2'] },
      { user_id: 12, email: 'edsger@example.org', container_type: 'dev', ids: ['GPU-8f3b2c1a'] },
    ],
  },
  host: {
    memory: { total: 32 * GiB, left: 14.6 * GiB },
    disk: { total: 400 * GiB, left: 212 * GiB },
    rules: 'set',
    rules_are: 'host rules',
  },
  images: {
    environments: { count: 9, bytes: 14.2 * GiB },
    pulled: [
      { image: 'quay.io/jupyter/scipy-notebook:2026-10-01', bytes: 4.1 * GiB, is_needed: true, goes_at: null },
      {
        image: 'quay.io/jupyter/scipy-notebook:2026-03-02',
        bytes: 3.9 * GiB,
        is_needed: false,
        goes_at: minutesAgo(-9_000),
      },
    ],
  },
  mail: {
    accepted: 318,
    failed: 0,
    used: 291,
    seconds_to_use: { median: 74, p90: 402 },
    seconds_to_accept: { median: 0.34, p90: 0.91 },
    last_failure_at: null,
    failures: [],
  },
  warnings: [],
  nodes: [],
}

const node = { version: '1.0.0', started_at: minutesAgo(2_900), is_alive: true, is_current: true, leads_since: null }

/** Three nodes, of which one was lost and one is behind. */
export const severalNodes: SystemReport = {
  ...healthy,
  nodes: [
    { ...node, address: '10.0.0.11:7070', seen_at: minutesAgo(0), leads_since: minutesAgo(1_240) },
    { ...node, address: '10.0.0.12:7070', seen_at: minutesAgo(0) },
    { ...node, address: '10.0.0.13:7070', seen_at: minutesAgo(0), is_current: false },
    { ...node, address: '10.0.0.14:7070', seen_at: minutesAgo(7), is_alive: false, is_current: false },
  ],
}

export const warned: SystemReport = {
  ...healthy,
  launches: { waiting: 7, under_way: 4, parallel: 4 },
  containers: { running: 118, max: 120, addresses_left: 41 },
  host: { ...healthy.host, memory: { total: 32 * GiB, left: 2.1 * GiB }, disk: { total: 400 * GiB, left: 9.4 * GiB } },
  reconciler: {
    ...healthy.reconciler,
    last_success: minutesAgo(6),
    failures: ['removals: 2 containers could not be removed.'],
  },
  mail: { ...healthy.mail, failed: 3, last_failure_at: minutesAgo(12) },
  warnings: [
    "Few addresses: Berth's networks have room for 41 more containers.",
    'Little disk: 9.4 GiB of 400.0 GiB are free; below 4.0 GiB no container is created.',
    'Little memory: 2.1 GiB of 32.0 GiB are available; below 0.6 GiB no container is started.',
  ],
}

export const engineDown: SystemReport = {
  ...healthy,
  reconciler: {
    ...healthy.reconciler,
    last_success: minutesAgo(9),
    is_engine_answering: false,
    failures: ['containers: the engine does not answer', 'prepared: the engine does not answer'],
  },
}

/** The report of a process that has just started. */
export const justStarted: SystemReport = {
  ...healthy,
  reconciler: {
    ...healthy.reconciler,
    last_success: null,
    last_run: null,
    duration_ms: null,
    actions: {},
    is_engine_answering: false,
  },
  launches: { waiting: 0, under_way: 0, parallel: 4 },
  containers: { running: 0, max: null, addresses_left: null },
  host: { memory: null, disk: null, rules: 'not known', rules_are: null },
  mail: { ...healthy.mail, accepted: 0, used: 0, seconds_to_use: null, seconds_to_accept: null },
}

/** A cluster whose network plugin lets everything pass. */
export const withoutPolicies: SystemReport = {
  ...healthy,
  host: {
    ...healthy.host,
    rules: 'not set: a pod that the policy berth-trial closes was reached',
    rules_are: 'policies',
  },
}

const mailReasons = [
  '550 5.1.1 The mailbox does not exist.',
  'The mail server did not answer within 20 seconds.',
  '451 4.7.1 Greylisted, try again later.',
] as const

export const mailFailing: SystemReport = {
  ...healthy,
  mail: {
    accepted: 41,
    failed: 12,
    used: 9,
    seconds_to_use: { median: 540, p90: 880 },
    seconds_to_accept: { median: 4.2, p90: 19.8 },
    last_failure_at: minutesAgo(3),
    failures: Array.from({ length: 12 }, (_, index) => ({
      at: minutesAgo(3 + index * 41),
      to:
        index === 4
          ? 'a.student.with.a.very.long.name.indeed@institute-of-technology.example.org'
          : `student${index}@example.org`,
      kind: index % 3 === 0 ? 'signup' : 'login',
      reason: mailReasons[index % 3]!,
    })),
  },
}

/**
 * A day at a school: quiet at night, a class in the morning, a restart of the host at noon.
 * @param minutes length of the history
 */
export function history(minutes: number): HistorySample[] {
  const times = Array.from({ length: minutes }, (_, index) => minutes - 1 - index)
  return times
    .filter((ago) => (ago < 120 || ago % 10 === 0) && !(ago > 64 && ago < 84))
    .map((ago) => sampleAt(ago, ago < 120 ? 1 : 10))
}

/** Numbers that resemble a day and are the same each time. */
function sampleAt(ago: number, width: number): HistorySample {
  const busy = Math.max(0, Math.sin(((1_440 - ago) / 1_440) * Math.PI * 2.78)) ** 2
  const wave = (Math.sin(ago * ago * 12.9898) + 1) / 2
  const running = Math.round(4 + busy * 90 + wave * 3)
  const launched = Math.round(busy * width * (1 + wave * 2))
  return {
    at: minutesAgo(ago),
    running,
    waiting: busy > 0.6 ? Math.round(wave * 6) : 0,
    launched,
    failed: wave > 0.985 && launched > 0 ? 1 : 0,
    memory_left: (24 - running * 0.2) * GiB,
    disk_left: (238 - (1_440 - ago) * 0.018) * GiB,
    ready_seconds: launched > 0 ? { median: 0.9 + busy + wave * 0.4, p90: 1.8 + busy * 3 + wave * 2 } : null,
  }
}

import type { Template } from '#/templates/template.ts'
import type { RuntimeCapabilities } from '#/engines/runtime-capabilities.ts'

/** One sentence for each thing that a template asks for and the engine can never give; Berth does not start with it. */
export function unsupportedBy(capabilities: RuntimeCapabilities, templates: readonly Template[]): string[] {
  return templates.flatMap((template) => [
    ...(capabilities.mountsHostPaths ? [] : withoutHostPaths(template)),
    ...(capabilities.putsFiles ? [] : withoutFiles(template)),
    ...(capabilities.hasNodes ? [] : withoutNodes(template)),
  ])
}

const withoutFiles = ({ type, files }: Template): string[] =>
  files.length === 0
    ? []
    : [`the template "${type}" has files, and this engine has no way to put them into a home before a start`]

const withoutNodes = ({ type, kubernetes }: Template): string[] =>
  kubernetes === null
    ? []
    : [
        `the template "${type}" has the field kubernetes, and this engine is no cluster: take the field away, or set ENGINE=kubernetes`,
      ]

function withoutHostPaths({ type, mounts, devices }: Template): string[] {
  return [
    ...mounts.flatMap(({ source }) =>
      'path' in source
        ? [
            `the template "${type}" mounts the host directory ${source.path}, and containers of this engine have no host directories; mount a volume by its name`,
          ]
        : [],
    ),
    ...devices.map(
      ({ onHost }) =>
        `the template "${type}" asks for the device ${onHost}, and containers of this engine have no devices of a host`,
    ),
  ]
}

/** One sentence for each thing that the engine does otherwise than the template says. */
export function heldDifferentlyBy(capabilities: RuntimeCapabilities, templates: readonly Template[]): string[] {
  return templates.flatMap((template) => [
    ...(capabilities.pauses ? [] : [...withoutPause(template), ...runsFromSignIn(template)]),
    ...(capabilities.reportsUsage ? [] : withoutUsage(template)),
    ...(capabilities.hasImages ? [] : withoutPort(template)),
  ])
}

const withoutPause = ({ type, idlePause }: Template): string[] =>
  idlePause === 0
    ? []
    : [
        `the template "${type}" has idle_pause, and this engine pauses nothing: its containers are stopped after ${idlePause} s, and what they keep in memory is lost`,
      ]

const runsFromSignIn = ({ type, prestart, prestartAt }: Template): string[] =>
  prestart || prestartAt !== null
    ? [
        `the template "${type}" is started ahead, and this engine pauses nothing: its containers run and use CPU time until idle_timeout`,
      ]
    : []

const withoutUsage = ({ type, idleCpu }: Template): string[] =>
  idleCpu === null
    ? []
    : [`the template "${type}" has idle_cpu, and this engine reports no CPU time: traffic alone counts as use`]

const withoutPort = ({ type, port }: Template): string[] =>
  port === null
    ? [`the template "${type}" names no port, and this engine does not tell which one its image exposes: 8080 is used`]
    : []

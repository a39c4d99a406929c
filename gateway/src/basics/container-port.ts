import { isContainerLabel, maxLabel } from './host-label.ts'

/**
 * Addresses of ports of containers: `/{slug}-{type}:{port}/` below the platform's host, and `{port}--{slug}-{type}` as the label of a
 * host. A port has one spelling, so that one program has one address.
 */

/** Those below are of programs that start as root, which are no applications of a person. */
const [minPort, maxPort] = [1_024, 65_535]

/** Whether further ports of containers can have this number. */
export const isFurtherPort = (port: number): boolean => Number.isInteger(port) && port >= minPort && port <= maxPort

/** Which further ports of the containers of a type have addresses. */
export interface FurtherPorts {
  /** Any where it is left out. */
  readonly ports?: 'any' | 'none' | readonly number[]
  /** Where Berth itself asks the container; it has no address. */
  readonly askedPort?: number
}

/** Whether this further port has an address. */
export const isAllowedPort = ({ ports = 'any', askedPort }: FurtherPorts, port: number): boolean =>
  port !== askedPort && (ports === 'any' || (ports !== 'none' && ports.includes(port)))

/** A container's prefix, and the port of it that an address names; undefined: its main one. */
export interface PrefixAndPort {
  readonly prefix: string
  readonly port: number | undefined
}

/** Reads a first segment of a path. Only containers have ports: `/{slug}` is none. */
export function prefixAndPort(segment: string): PrefixAndPort {
  const colon = segment.lastIndexOf(':')
  if (colon === -1 || !/^:[1-9]\d{3,4}$/.test(segment.slice(colon))) return { prefix: segment, port: undefined }
  const [prefix, port] = [segment.slice(0, colon), Number(segment.slice(colon + 1))]
  return isFurtherPort(port) && prefix.includes('-') ? { prefix, port } : { prefix: segment, port: undefined }
}

/** First segment of the path of a container's port. */
export const segmentOf = (prefix: string, port: number | undefined): string =>
  port === undefined ? prefix : `${prefix}:${port}`

/**
 * Reads a label of a host. No slug has a hyphen, so that of a port is no container's.
 * @returns undefined for what is neither a container's nor that of a port with an address
 */
export function prefixAndPortOfLabel(label: string): PrefixAndPort | undefined {
  if (isContainerLabel(label)) return { prefix: label, port: undefined }
  const [, digits, prefix = ''] = /^([1-9]\d{3,4})--(.+)$/.exec(label) ?? []
  const port = Number(digits)
  return isFurtherPort(port) && label.length <= maxLabel && isContainerLabel(prefix) ? { prefix, port } : undefined
}

/** The label of a container's port; undefined where it would be longer than DNS takes. */
export function labelOf(prefix: string, port: number | undefined): string | undefined {
  const label = port === undefined ? prefix : `${port}--${prefix}`
  return label.length <= maxLabel ? label : undefined
}

import path from 'node:path'
import type { SettingName } from './setting-descriptions.ts'

/** Settings of `ENGINE=kubernetes`. */
export interface KubernetesConfig {
  /** Undefined: the service account of the pod that this process runs in. */
  readonly kubeconfig: string | undefined
  /** Null: that of the context. */
  readonly namespace: string | null
  /** Null: the cluster's default. */
  readonly storageClass: string | null
  /** Image of pods that read and write homes; null: homes are out of reach. */
  readonly helperImage: string | null
}

/** Names of namespaces (RFC 1123 labels), and of storage classes (RFC 1123 subdomains). */
const [label, subdomain] = [/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/]

/** @param readFile as of `readConfig` @param problems gets a sentence for each value that is wrong @returns null with `ENGINE=docker` */
export function readKubernetes(
  text: (name: SettingName) => string | null,
  readFile: (path: string) => string,
  problems: string[],
): KubernetesConfig | null {
  const engine = text('ENGINE') ?? 'docker'
  const [namespace, storageClass] = [text('KUBERNETES_NAMESPACE'), text('KUBERNETES_STORAGE_CLASS')]
  const kubeconfig = text('KUBECONFIG') ?? undefined
  const helperImage = text('KUBERNETES_HELPER_IMAGE')
  if (engine !== 'docker' && engine !== 'kubernetes') problems.push('ENGINE: must be docker or kubernetes')
  if (engine !== 'kubernetes') return null
  if (namespace !== null && !label.test(namespace))
    problems.push('KUBERNETES_NAMESPACE: must be lower-case letters, digits and hyphens, at most 63')
  if (storageClass !== null && !subdomain.test(storageClass))
    problems.push('KUBERNETES_STORAGE_CLASS: must be lower-case letters, digits, dots and hyphens')
  if (helperImage !== null && /\s/.test(helperImage))
    problems.push('KUBERNETES_HELPER_IMAGE: must be the name of an image, such as busybox:1.36')
  for (const file of kubeconfig?.split(path.delimiter) ?? []) problems.push(...problemsOfFile(file, readFile))
  return { kubeconfig, namespace, storageClass, helperImage }
}

/** Several files are separated by colons, between which there may be nothing. */
function problemsOfFile(file: string, readFile: (path: string) => string): string[] {
  try {
    if (file !== '') readFile(file)
    return []
  } catch (error) {
    return [`KUBECONFIG: ${file} cannot be read: ${(error as Error).message}`]
  }
}

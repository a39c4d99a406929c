import { usualGpuResource, type ClusterFields, type Toleration } from '#/engines/container-spec.ts'
import { bad, isRecord, ok, type Read } from './field-values.ts'

const keys = ['node_selector', 'tolerations', 'storage_class', 'pull_secrets', 'gpu_resource']
const tolerationKeys = ['key', 'operator', 'value', 'effect', 'seconds']
/** Names and values as the API of a cluster checks them. */
const subdomain = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'
const objectName = new RegExp(`^(?=.{1,253}$)${subdomain}$`)
const labelKey = new RegExp(`^(?:(?=[^/]{1,253}/)${subdomain}/)?(?=.{1,63}$)[A-Za-z0-9]([-\\w.]*[A-Za-z0-9])?$`)
const labelValue = /^(?=.{0,63}$)([A-Za-z0-9]([-\w.]*[A-Za-z0-9])?)?$/
const resourceName = new RegExp(`^(?=[^/]{1,253}/)${subdomain}/(?=.{1,63}$)[A-Za-z0-9]([-\\w.]*[A-Za-z0-9])?$`)
const operators = ['Equal', 'Exists'] as const
const effects = ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const

/** The field `kubernetes`: a map with node_selector, tolerations, storage_class, pull_secrets, gpu_resource. */
export function clusterFields(value: unknown): Read<ClusterFields> {
  if (!isRecord(value)) return bad(`must be a map with ${keys.join(', ')}`)
  const unknown = Object.keys(value).find((key) => !keys.includes(key))
  if (unknown !== undefined) return bad(`has the unknown key "${unknown}"; known: ${keys.join(', ')}`)
  const {
    node_selector: nodeSelector = {},
    tolerations = [],
    storage_class: storageClass = null,
    pull_secrets: pullSecrets = [],
    gpu_resource: gpuResource = usualGpuResource,
  } = value
  if (!isSelector(nodeSelector)) return bad('needs a node_selector that is a map of label to value, in quotes')
  if (storageClass !== null && !isObjectName(storageClass))
    return bad('needs a storage_class that is the name of a storage class')
  if (!Array.isArray(pullSecrets) || !pullSecrets.every(isObjectName))
    return bad('needs pull_secrets that are a list of names of Secrets')
  if (typeof gpuResource !== 'string' || !resourceName.test(gpuResource))
    return bad('needs a gpu_resource such as nvidia.com/gpu')
  const read = tolerationList(tolerations)
  if ('problem' in read) return read
  return ok({ nodeSelector, tolerations: read.value, storageClass, pullSecrets, gpuResource })
}

const isObjectName = (value: unknown): value is string => typeof value === 'string' && objectName.test(value)
const isLabelKey = (value: unknown): value is string => typeof value === 'string' && labelKey.test(value)
const isLabelValue = (value: unknown): value is string => typeof value === 'string' && labelValue.test(value)

const isSelector = (value: unknown): value is Readonly<Record<string, string>> =>
  isRecord(value) && Object.entries(value).every(([key, each]) => isLabelKey(key) && isLabelValue(each))

function tolerationList(value: unknown): Read<readonly Toleration[]> {
  const form = 'needs tolerations that are a list of {key, operator, value, effect, seconds}'
  if (!Array.isArray(value)) return bad(form)
  const all: Toleration[] = []
  for (const each of value as unknown[]) {
    if (!isRecord(each) || Object.keys(each).some((key) => !tolerationKeys.includes(key))) return bad(form)
    const read = toleration(each)
    if ('problem' in read) return read
    all.push(read.value)
  }
  return ok(all)
}

/** As the API of a cluster checks it: without a key every taint is accepted, which only `Exists` can say. */
function toleration({ key = '', value = '', seconds = null, ...given }: Record<string, unknown>): Read<Toleration> {
  const operator = operators.find((each) => each === (given.operator ?? 'Equal'))
  const effect = effects.find((each) => each === (given.effect ?? ''))
  if (!operator) return bad(`has a toleration whose operator is none of ${operators.join(', ')}`)
  if (effect === undefined) return bad(`has a toleration whose effect is none of ${effects.slice(1).join(', ')}`)
  if (key !== '' && !isLabelKey(key)) return bad('has a toleration whose key is no name of a taint')
  if (!isLabelValue(value)) return bad('has a toleration whose value is no value of a taint')
  if (key === '' && operator === 'Equal') return bad('has a toleration without key, which needs the operator Exists')
  if (value !== '' && operator === 'Exists') return bad('has a toleration with a value, which Exists does not compare')
  const isTime = Number.isInteger(seconds) && Number(seconds) >= 0
  if (seconds !== null && !(isTime && effect === 'NoExecute'))
    return bad('has a toleration with seconds, which must be a whole number and need the effect NoExecute')
  return ok({ key: String(key), operator, value, effect, seconds: seconds as number | null })
}

import type { ControlPlane } from '@berth/gateway/port/gateway.ts'

/** The leader's control plane for one gateway of several: its state is confirmed to each by itself. */
export function memberControl(control: ControlPlane, confirmState: () => Promise<void>): ControlPlane {
  return {
    confirmState,
    scopedToken: (...args) => control.scopedToken(...args),
    renewSession: (...args) => control.renewSession(...args),
    enterHost: (...args) => control.enterHost(...args),
    sessionEnd: (...args) => control.sessionEnd(...args),
    reportSessionUses: (...args) => control.reportSessionUses(...args),
    wake: (...args) => control.wake(...args),
    explain: (...args) => control.explain(...args),
    reportUnreachable: (...args) => control.reportUnreachable(...args),
    reportActivity: (...args) => control.reportActivity(...args),
    reportVisits: (...args) => control.reportVisits(...args),
    report: (...args) => control.report(...args),
  }
}

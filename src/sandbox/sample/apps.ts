/**
 * The applications of the licensing service. The keys are no secrets: they are the same in every sandbox and open nothing else.
 */
export const sampleApps = [
  { app_code: 4711, api_key: 'sandbox-key-of-app-4711' },
  { app_code: 4712, api_key: 'sandbox-key-of-app-4712' },
] as const;

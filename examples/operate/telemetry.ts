import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

/**
 * Metrics that Prometheus asks this process for, at `http://<host>:<port>/metrics`: an address that
 * only Prometheus should reach.
 */
export function prometheusMetrics({
  port = 9464,
  host = '127.0.0.1',
}: {
  readonly port?: number;
  readonly host?: string;
} = {}): MeterProvider {
  return new MeterProvider({ readers: [new PrometheusExporter({ port, host })] });
}

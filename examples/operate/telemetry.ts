import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

/**
 * Serves metrics for Prometheus at `http://<host>:<port>/metrics`. Only Prometheus should be able
 * to reach this address.
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

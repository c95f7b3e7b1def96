# The app in one process, for any machine; docs/deployment.md says how it is started and what it carries.
#   CPU:   docker build -t attention-explorer .
#   CUDA:  docker build --build-arg TORCH=cu130 -t attention-explorer .
#   Ray:   docker build --build-arg REQUIREMENTS=requirements-cluster.txt -t attention-explorer .
FROM python:3.11-slim

ARG TORCH=cpu
ARG REQUIREMENTS=requirements.txt
WORKDIR /app
COPY requirements.txt requirements-cluster.txt ./
RUN pip install --no-cache-dir uv \
    && uv pip install --system --no-cache --compile-bytecode --torch-backend "$TORCH" -r "$REQUIREMENTS"
COPY app.py ./
COPY .streamlit .streamlit
COPY benchmarks/results benchmarks/results
COPY weights weights
COPY lessons lessons
COPY attention_core attention_core
COPY ui ui
COPY pages pages
RUN useradd --uid 1000 --home-dir /cache --create-home visitor
USER visitor
VOLUME /cache
ENV HOME=/cache
ENV PYTHONDONTWRITEBYTECODE=1
ENV OMP_NUM_THREADS=1
ENV ATTENTION_HOSTED=1
EXPOSE 8501
HEALTHCHECK --start-period=30s --interval=15s --timeout=5s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
ENTRYPOINT ["python", "-m", "streamlit", "run", "app.py", "--server.address=0.0.0.0", "--server.port=8501", "--server.headless=true"]
